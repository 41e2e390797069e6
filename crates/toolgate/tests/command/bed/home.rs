//! A folder of its own for one Toolgate: the configuration, the data, and commands run in it.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{pipe::Pipe, served::Served};

pub struct Home {
    folder: TempDir,
    database: Option<String>,
}

/// A command that ran to its end.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Home {
    /// Without a configuration: the built-in one.
    pub fn bare() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: None }
    }

    pub fn with(config: &str) -> Self {
        let home = Self::bare();
        home.write("toolgate.toml", config);
        home
    }

    /// With the store at this address instead of the data folder.
    pub fn on(mut self, database: &str) -> Self {
        self.database = Some(database.to_owned());
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Put in place whole, as careful editors do: nobody ever reads half of it.
    pub fn write(&self, name: &str, text: &str) {
        let draft = self.path(&format!("{name}.draft"));
        fs::create_dir_all(draft.parent().unwrap()).unwrap();
        fs::write(&draft, text).unwrap();
        fs::rename(draft, self.path(name)).unwrap();
    }

    /// A file that only its owner may read.
    pub fn write_secret(&self, name: &str, text: &str) {
        self.write(name, text);
        #[cfg(unix)]
        fs::set_permissions(self.path(name), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }

    /// The real binary, in this folder, with nothing of the surroundings in its environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command.env_clear().current_dir(self.folder.path()).args(arguments);
        // tests answer approvals without a terminal
        command.env("TOOLGATE_APPROVALS__COMMAND_LINE", "any");
        if let Some(database) = &self.database {
            command.env("TOOLGATE_DATABASE", database);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.command(arguments))
    }

    /// Must go well.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        ran.json()
    }

    /// A token with facts as `token mint` takes them, separated by blanks.
    pub fn mint(&self, facts: &str) -> String {
        let facts: Vec<&str> = facts.split_whitespace().collect();
        let ran = self.run(&[&["token", "mint"], &*facts].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out.trim_end().to_owned()
    }

    pub fn serve(&self) -> Served {
        Served::start(self.command(&["serve", "--listen", "127.0.0.1:0"]))
    }

    pub fn stdio(&self, token: Option<&str>) -> Pipe {
        let mut command = self.command(&["stdio"]);
        if let Some(token) = token {
            command.args(["--token", token]);
        }
        Pipe::start(command)
    }
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output().unwrap();
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }
}
