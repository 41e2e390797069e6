//! A program that an upstream is can't read the gateway's secrets, whichever command starts it.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::Command,
};

use super::bed::home::{Home, Ran};

const SECRET: &str = "canary-of-the-environment";

/// Writes down what it can read of the process that started it.
const CURIOUS: &str = r#"
parent=$(awk '/^PPid/ {print $2}' /proc/$$/status)
{ tr '\0' '\n' < /proc/$parent/environ; echo looked; } > "$1" 2>&1
exec python3 "$2" stdio legacy
"#;
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/fixture/server.py");

fn is_root() -> bool {
    String::from_utf8(Command::new("id").arg("-u").output().unwrap().stdout).unwrap().trim() == "0"
}

/// Runs a command as a user without privileges: the superuser's programs may read everything. The program is a copy, since
/// the folder that it was built in may be its builder's alone.
fn run(program: &Path, home: &Home, arguments: &[&str]) -> Ran {
    let mut command = Command::new(program);
    command.env_clear().current_dir(home.path("")).args(arguments);
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("OPERATORS_SECRET", SECRET);
    if is_root() {
        command.uid(65_534).gid(65_534);
    }
    Ran::of(&mut command)
}

#[test]
fn a_program_that_a_command_starts_reads_nothing_of_the_commands_environment() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("toolgate");
    fs::copy(env!("CARGO_BIN_EXE_toolgate"), &program).unwrap();
    for arguments in [&["upstream", "list"][..], &["upstream", "diff", "odd"], &["upstream", "accept", "odd", "--all"]]
    {
        let home = Home::bare();
        home.write("curious.sh", CURIOUS);
        let found = home.path("found");
        home.write(
            "toolgate.toml",
            &format!(
                "[[upstreams]]\nname = \"odd\"\ncommand = \"sh\"\nargs = [{:?}, {found:?}, {FIXTURE:?}]\n",
                home.path("curious.sh")
            ),
        );
        fs::set_permissions(home.path(""), fs::Permissions::from_mode(0o777)).unwrap();
        let ran = run(&program, &home, arguments);
        let read = fs::read_to_string(&found).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {ran:?}"));
        assert!(read.contains("looked") && !read.contains(SECRET), "{arguments:?}: {read}");
    }
}
