//! Running another program: it succeeds, or there is a fault that holds the command to repeat by hand.

use std::{
    ffi::OsStr,
    fmt::Write as _,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use crate::fault::{Fault, Outcome};

pub(crate) struct Program(Command);

impl Program {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self(Command::new(program))
    }

    /// The cargo that runs this command, else the one on the path.
    pub(crate) fn cargo() -> Self {
        Self::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.0.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn within(mut self, directory: &Path) -> Self {
        self.0.current_dir(directory);
        self
    }

    /// The command itself, for a process that outlives the call.
    pub(crate) fn into_inner(self) -> Command {
        self.0
    }

    /// Runs with the terminal's own output.
    pub(crate) fn run(mut self) -> Outcome<()> {
        let status = self.0.status().map_err(|error| self.not_started(&error))?;
        if status.success() { Ok(()) } else { Err(self.failed(&status.to_string())) }
    }

    /// Runs in silence and gives standard output; what it said otherwise is in the fault.
    pub(crate) fn output(mut self) -> Outcome<String> {
        let output = self.0.stdin(Stdio::null()).output().map_err(|error| self.not_started(&error))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(said);
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        Err(self.failed(&format!("{}\n{}{}", output.status, said, complaint)))
    }

    /// Runs in silence and gives standard output and standard error, one after the other.
    pub(crate) fn everything_said(mut self) -> Outcome<String> {
        let output = self.0.stdin(Stdio::null()).output().map_err(|error| self.not_started(&error))?;
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        if output.status.success() { Ok(said) } else { Err(self.failed(&format!("{}\n{said}", output.status))) }
    }

    /// Runs with standard output shown and read line by line, and says whether it succeeded.
    pub(crate) fn watch(mut self, mut line_seen: impl FnMut(&str)) -> Outcome<Result<(), Fault>> {
        let mut child = self.0.stdout(Stdio::piped()).spawn().map_err(|error| self.not_started(&error))?;
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                println!("{line}");
                line_seen(&line);
            }
        }
        let status = child.wait().map_err(|error| self.not_started(&error))?;
        Ok(if status.success() { Ok(()) } else { Err(self.failed(&status.to_string())) })
    }

    fn not_started(&self, error: &std::io::Error) -> Fault {
        Fault::new(format!("can't run {}: {error}", self.0.get_program().to_string_lossy())).command(self.line())
    }

    fn failed(&self, how: &str) -> Fault {
        Fault::new(format!("{} failed: {}", self.0.get_program().to_string_lossy(), how.trim_end()))
            .command(self.line())
    }

    /// The command as one would type it, with the variables it sets.
    fn line(&self) -> String {
        let mut line = String::new();
        for (name, value) in self.0.get_envs() {
            if let Some(value) = value {
                let _ = write!(line, "{}={} ", name.to_string_lossy(), quoted(&value.to_string_lossy()));
            }
        }
        line.push_str(&quoted(&self.0.get_program().to_string_lossy()));
        for argument in self.0.get_args() {
            let _ = write!(line, " {}", quoted(&argument.to_string_lossy()));
        }
        line
    }
}

/// The full path of a program on the path, if there is one.
pub(crate) fn on_path(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|found| found.is_file())
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_shows_the_command_as_one_would_type_it() {
        let program = Program::new("echo").args(["two words", "it's"]).env("A", "1 2");
        assert_eq!(program.line(), r"A='1 2' echo 'two words' 'it'\''s'");
    }
}
