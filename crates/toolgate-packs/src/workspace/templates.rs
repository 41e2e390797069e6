//! Templates of artifacts: files of the operator's folder, and a few built in. A file's name without its ending is the
//! template's; what it is for may stand between two lines of `---` at its beginning.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_spine::ToolAnswer;
use toolgate_store::ArtifactFormat;

use super::{WorkspaceProblem, answered};
use crate::failure::{Failure, short};

const BUILT_IN: [(&str, &str); 3] = [
    ("documentation.md", include_str!("templates/documentation.md")),
    ("pr_description.md", include_str!("templates/pr_description.md")),
    ("prd.md", include_str!("templates/prd.md")),
];
/// Larger files, and more of them, are left out.
const LARGEST: u64 = 256 << 10;
const MOST: usize = 500;

pub(super) struct Templates {
    folder: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Template {
    description: String,
    format: ArtifactFormat,
    content: String,
    tags: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Load {
    template_name: String,
}

impl Templates {
    pub(super) fn of(folder: Option<PathBuf>) -> Result<Self, WorkspaceProblem> {
        if let Some(missing) = folder.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(WorkspaceProblem::Templates { path: missing.display().to_string() });
        }
        Ok(Self { folder })
    }

    pub(super) async fn list(&self) -> Result<ToolAnswer, Failure> {
        let templates: Vec<Value> =
            self.read().await?.iter().map(|(name, template)| shown(name, template, false)).collect();
        answered(&json!({ "templates": templates }))
    }

    pub(super) async fn load(&self, Load { template_name }: Load) -> Result<ToolAnswer, Failure> {
        let templates = self.read().await?;
        let missing = || Failure::not_found(format!("Template '{}' not found.", short(&template_name)));
        let template = templates.get(&template_name).ok_or_else(missing)?;
        answered(&shown(&template_name, template, true))
    }

    /// Anew for each call: whoever keeps the folder sees at once what tasks get.
    async fn read(&self) -> Result<BTreeMap<String, Template>, Failure> {
        let folder = self.folder.clone();
        let read = tokio::task::spawn_blocking(move || all(folder.as_deref())).await;
        read.map_err(|_| Failure::internal("The templates can't be read."))
    }
}

fn all(folder: Option<&Path>) -> BTreeMap<String, Template> {
    let built_in = BUILT_IN.iter().filter_map(|(file, text)| template(file, text));
    let mut templates: BTreeMap<String, Template> = built_in.collect();
    let entries = folder.and_then(|folder| match fs::read_dir(folder) {
        Ok(entries) => Some(entries),
        Err(fault) => {
            tracing::warn!(target: "toolgate::workspace", %fault, "the folder of templates can't be read");
            None
        }
    });
    let mut files: Vec<PathBuf> = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    for path in files.into_iter().take(MOST) {
        let is_fit = fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
        let read = || Some((path.file_name()?.to_str()?.to_owned(), fs::read_to_string(&path).ok()?));
        let Some((file, text)) = is_fit.then(read).flatten() else { continue };
        templates.extend(template(&file, &text));
    }
    templates
}

fn template(file: &str, text: &str) -> Option<(String, Template)> {
    let (name, ending) = file.rsplit_once('.')?;
    let format = match ending {
        "md" => ArtifactFormat::Markdown,
        "json" => ArtifactFormat::Json,
        "xml" => ArtifactFormat::Xml,
        "txt" => ArtifactFormat::Text,
        _ => return None,
    };
    let (head, content) = match text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((head, content)) => (head, content.trim_start_matches('\n')),
        None => ("", text),
    };
    let said = |key: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(str::trim).unwrap_or_default()
    };
    let tags = said("tags").split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    let description = said("description").to_owned();
    Some((name.to_owned(), Template { description, format, content: content.to_owned(), tags }))
        .filter(|_| !name.is_empty())
}

fn shown(name: &str, template: &Template, whole: bool) -> Value {
    let mut shown = json!({"name": name, "description": template.description, "format": template.format.as_str(),
        "tags": template.tags});
    if let (true, Some(shown)) = (whole, shown.as_object_mut()) {
        shown.insert("content".to_owned(), template.content.clone().into());
    }
    shown
}
