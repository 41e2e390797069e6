//! `project add|list|show|set`: where agents work. What they work on is `project_task`.

use serde_json::{Value, json};
use toolgate_server::team::{project_json, project_with_agents};
use toolgate_store::team::{NewProject, Project, ProjectChange};

use super::{agent::shown, books, print, project_task, table::table, when::dated};
use crate::{
    CommandResult, Ending,
    cli::{Output, ProjectCommand},
    ground::{self, Ground},
};

pub async fn run(command: ProjectCommand) -> CommandResult {
    match command {
        ProjectCommand::Task(command) => project_task::run(command).await,
        ProjectCommand::Tell { project, agent, text, from, place, output } => {
            project_task::tell((project, agent, text), from, place, output).await
        }
        ProjectCommand::Add { id, name, working_directory, place, output } => {
            let store = Ground::of(&place)?.store().await?;
            let name = name.unwrap_or_else(|| id.clone());
            let project = NewProject { id, name, working_directory, created_at: ground::now() };
            let added = store.team().projects().add(project).await;
            store.close().await;
            let added = added?;
            print(output, &dated(project_json(&added)), &format!("{} is added\n", added.id))?;
            Ok(Ending::Good)
        }
        ProjectCommand::List { limit, place, output } => {
            let store = books::store(&place).await?;
            let list = async |paging| store.team().projects().list(&paging).await;
            let (projects, cut) = books::gathered(limit, list).await?;
            store.close().await;
            let text = if projects.is_empty() {
                "There are no projects. Add one: toolgate project add ID\n".to_owned()
            } else {
                table(["ID", "STATUS", "NAME"], projects.iter().map(cells))
            };
            let rows: Vec<Value> = projects.iter().map(project_json).map(dated).collect();
            print(output, &rows, &text)?;
            books::note_cut(cut, limit);
            Ok(Ending::Good)
        }
        ProjectCommand::Show { id, place, output } => {
            let store = books::store(&place).await?;
            let found = store.team().projects().get(&id).await?;
            let assigned = store.team().assignments().of_project(&id).await?;
            store.close().await;
            match found {
                Some(project) => shown(output, &project_with_agents(&project, &assigned)),
                None => unknown(&id, output),
            }
        }
        ProjectCommand::Set { id, name, status, working_directory, place, output } => {
            let working_directory = working_directory.map(|folder| Some(folder).filter(|folder| !folder.is_empty()));
            let change = ProjectChange { name, status, working_directory };
            if change == ProjectChange::default() {
                return Err("nothing is to be changed; see toolgate project set --help".into());
            }
            let store = books::store(&place).await?;
            let changed = store.team().projects().change(&id, change).await?;
            store.close().await;
            match changed {
                Some(project) => shown(output, &project_json(&project)),
                None => unknown(&id, output),
            }
        }
    }
}

fn cells(project: &Project) -> [String; 3] {
    [&project.id, project.status.as_str(), &project.name].map(str::to_owned)
}

fn unknown(id: &str, output: Output) -> CommandResult {
    print(output, &json!({"id": id, "found": false}), &format!("no project has the id '{}'\n", books::line(id)))?;
    Ok(Ending::No)
}
