//! The sandbox of a child: the files it can reach, enforced by the kernel (Landlock).
//!
//! A child that runs as the gateway's own user could otherwise read whatever the gateway can: its signing key, its store
//! and its ledger. Landlock has rules that allow and none that deny, so a sandbox names what a child may reach; everything
//! else is out of reach. It also keeps the child from looking into processes outside of its sandbox, the gateway among
//! them, and from signalling them where the kernel can do that. Root in a sandbox is a user like any other: some of its
//! capabilities lead around Landlock.
//!
//! A process can only restrict itself, and the step between fork and exec takes `unsafe`. So the gateway's own program is
//! started once more: [`run_confined`] restricts that process and then becomes the child's program.
//!
//! INVARIANT: a child with a sandbox never runs without it. A kernel that has no Landlock is an error of the upstream.

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod restrict;
mod temporary;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub(super) use self::temporary::TemporaryFolder;
use crate::fault::Fault;

const READ: &str = "--read";
const WRITE: &str = "--write";
const END: &str = "--";
/// The launcher's exit code where the program did not start, as shells have it.
const NOT_STARTED: u8 = 126;

/// Files and folders that every sandboxed program may read: those that programs need to run at all. `/etc` is not among
/// them as a whole, since secrets are kept there too.
const SYSTEM: [&str; 36] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/run/systemd/resolve",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];
/// Devices that every sandboxed program may read and write.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The files that a child can reach, and the program that restricts it to them.
#[derive(Debug, Clone)]
pub struct ChildSandbox {
    /// The program that calls [`run_confined`] with the arguments after `argument`.
    pub launcher: PathBuf,
    pub argument: String,
    /// Files and folders that the child may read, and run programs from.
    pub read: Vec<PathBuf>,
    /// Files and folders that the child may change too.
    pub write: Vec<PathBuf>,
}

impl ChildSandbox {
    /// Files and folders that every sandboxed program may read.
    pub fn system_paths() -> impl Iterator<Item = &'static Path> {
        SYSTEM.iter().map(Path::new)
    }

    /// The arguments of the launcher before the program's own.
    pub(super) fn launch(&self, program: &str, temporary: &Path) -> Result<Vec<OsString>, Fault> {
        sandbox_support().map_err(|why| Fault::Misconfigured { why })?;
        let mut arguments = vec![OsString::from(&self.argument)];
        let write = self.write.iter().map(PathBuf::as_path).chain([temporary]);
        let named = self.read.iter().map(|path| (READ, path.as_path())).chain(write.map(|path| (WRITE, path)));
        for (option, path) in named {
            if !path.exists() {
                let why = format!("its sandbox names '{}', which is not there", path.display());
                return Err(Fault::Misconfigured { why });
            }
            arguments.extend([option.into(), path.into()]);
        }
        arguments.extend([END.into(), program.into()]);
        Ok(arguments)
    }
}

/// Whether this system can enforce a sandbox, and if not, why.
pub fn sandbox_support() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    return restrict::support();
    #[cfg(not(target_os = "linux"))]
    return Err("its sandbox can't be enforced: that takes Linux".to_owned());
}

/// The launcher's own process: restricts itself to what its arguments name, and becomes the program. Returns only where
/// that failed.
pub fn run_confined(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let failed = match Confinement::parse(arguments) {
        Some(confinement) => confinement.run(),
        None => "a launcher takes --read PATH, --write PATH, -- and a program".to_owned(),
    };
    eprintln!("toolgate: {failed}");
    ExitCode::from(NOT_STARTED)
}

/// What a launcher is asked to do.
#[derive(Debug, Default, PartialEq, Eq)]
struct Confinement {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    program: OsString,
    arguments: Vec<OsString>,
}

impl Confinement {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut parsed = Self::default();
        loop {
            match arguments.next()?.to_str()? {
                READ => parsed.read.push(arguments.next()?.into()),
                WRITE => parsed.write.push(arguments.next()?.into()),
                END => break,
                _ => return None,
            }
        }
        parsed.program = arguments.next()?;
        parsed.arguments = arguments.collect();
        Some(parsed)
    }

    #[cfg(target_os = "linux")]
    fn run(self) -> String {
        use std::os::unix::process::CommandExt;

        if let Err(why) = capabilities::give_up().and_then(|()| restrict::restrict(&self)) {
            return why;
        }
        let fault = std::process::Command::new(&self.program).args(&self.arguments).exec();
        let hint = match fault.kind() {
            std::io::ErrorKind::PermissionDenied => {
                "; its folder, or its interpreter's, may be missing in sandbox.read"
            }
            _ => "",
        };
        format!("program '{}' can't be started in its sandbox: {fault}{hint}", self.program.display())
    }

    #[cfg(not(target_os = "linux"))]
    fn run(self) -> String {
        "a sandbox can't be enforced: that takes Linux".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Confinement> {
        Confinement::parse(text.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_launcher_understands_what_it_is_told_and_nothing_else() {
        let parsed = parse("--read /a --write /b --read /c -- sh -c -- --read").unwrap();
        assert_eq!(parsed.read, [PathBuf::from("/a"), PathBuf::from("/c")]);
        assert_eq!(parsed.write, [PathBuf::from("/b")]);
        assert_eq!(parsed.program, "sh");
        assert_eq!(parsed.arguments, ["-c", "--", "--read"]);
        for wrong in ["", "--", "sh", "--read", "--read /a", "--read -- sh", "--other /a -- sh"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
