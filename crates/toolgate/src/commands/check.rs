//! `check`: everything `serve` would refuse, without serving.

use serde_json::json;

use super::{print, say};
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
    config::Config,
    gateway_files::GatewayFiles,
    ground::Ground,
};

pub fn run(place: &Place, schema: bool, output: Output) -> CommandResult {
    if schema {
        say(&format!("{}\n", serde_json::to_string_pretty(&Config::schema())?))?;
        return Ok(Ending::Good);
    }
    let checked = Ground::of(place).map_err(|problem| problem.to_string()).and_then(|ground| {
        let gate = ground.gate().map_err(|problem| problem.to_string())?;
        super::serve::check(&ground).map_err(|problem| problem.to_string())?;
        let files = GatewayFiles::of(&ground).map_err(|problem| problem.to_string())?;
        let mut warnings = files.exposures(&ground.config.upstreams);
        warnings.extend(ground.attribute_warnings().map_err(|problem| problem.to_string())?);
        Ok((ground, gate, warnings))
    });
    match checked {
        Ok((ground, gate, warnings)) => {
            let file = ground
                .config_path
                .map_or_else(|| "the built-in configuration".to_owned(), |path| path.display().to_string());
            let (tools, rules) = (gate.catalog().len(), gate.rulebook().rules().len());
            let upstreams = ground.config.upstreams.len();
            let notes: Vec<String> = gate.rulebook().notes().iter().map(ToString::to_string).collect();
            let noted: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
            let counted = if upstreams == 0 { String::new() } else { format!(", {upstreams} upstreams") };
            let noted: String = warnings.iter().map(|warning| format!("warning: {warning}\n")).chain([noted]).collect();
            print(
                output,
                &json!({
                    "good": true, "configuration": file, "tools": tools, "rules": rules, "upstreams": upstreams,
                    "warnings": warnings, "notes": notes,
                }),
                &format!("{noted}{file} is good: {tools} tools, {rules} rules{counted}\n"),
            )?;
            Ok(Ending::Good)
        }
        Err(problem) => {
            print(output, &json!({"good": false, "problem": problem}), &format!("{problem}\n"))?;
            Ok(Ending::No)
        }
    }
}
