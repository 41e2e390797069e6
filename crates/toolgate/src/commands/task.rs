//! `task start|finish|show`: the rows that task identity rests on.

use serde_json::json;
use toolgate_server::identity::TaskKey;

use super::print;
use crate::{
    CommandResult, Ending,
    cli::TaskCommand,
    ground::{self, Ground},
};

pub async fn run(command: TaskCommand) -> CommandResult {
    match command {
        TaskCommand::Start { owner, process, name, parent, orchestrator, place, output } => {
            let store = Ground::of(&place)?.store().await?;
            let (task_id, key) = TaskKey::generate()?;
            store
                .tasks()
                .start(toolgate_store::NewTask {
                    task_id: task_id.clone(),
                    key_hash: key.hash(),
                    owner,
                    process,
                    name,
                    parent,
                    is_orchestrator: orchestrator,
                    created_at: ground::now(),
                })
                .await?;
            store.close().await;
            let text = format!("task_id: {task_id}\ntask_key: {}\n", key.expose());
            print(output, &json!({"task_id": task_id, "task_key": key.expose()}), &text)?;
            Ok(Ending::Good)
        }
        TaskCommand::Finish { id, place, output } => {
            let store = Ground::of(&place)?.store().await?;
            let finished = store.tasks().finish(&id, ground::now()).await?;
            store.close().await;
            let text =
                if finished { format!("{id} is finished\n") } else { format!("no running task has the id '{id}'\n") };
            print(output, &json!({"task_id": id, "finished": finished}), &text)?;
            Ok(if finished { Ending::Good } else { Ending::No })
        }
        TaskCommand::Show { id, place, output } => {
            let store = Ground::of(&place)?.store().await?;
            let found = store.tasks().find(&id).await?;
            store.close().await;
            let Some(task) = found else {
                print(output, &json!({"task_id": id, "found": false}), &format!("no task has the id '{id}'\n"))?;
                return Ok(Ending::No);
            };
            let value = json!({"task_id": task.task_id, "owner": task.owner, "process": task.process, "name": task.name,
                "parent": task.parent, "is_orchestrator": task.is_orchestrator, "created_at": task.created_at,
                "finished_at": task.finished_at, "live": task.live});
            let mut text = String::new();
            for (key, field) in value.as_object().into_iter().flatten() {
                text.push_str(&format!("{key}: {}\n", field.as_str().map_or_else(|| field.to_string(), str::to_owned)));
            }
            print(output, &value, &text)?;
            Ok(Ending::Good)
        }
    }
}
