//! A supervisor started by the test, which talks to it as a host does. Its commands run in
//! sandboxes whose plans the test gives directly, without any policy.

use std::{
    ffi::{CString, OsString},
    fs::{self, File},
    io::{IoSlice, Read as _, Seek as _, Write as _},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, fs::PermissionsExt as _, net::UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
    SocketType, recv, sendmsg, socketpair,
};
use tempfile::TempDir;

pub(crate) use toolwright_command_protocol::{
    CommandNetwork, CommandRequest, EndReport, HiddenPlace, KeeperMessage, LimitKind, MissingPlace,
    PlaceKind, ProcessIdentity, RequestKind, ResourceLimits, SandboxLevel, SandboxPlan,
    SandboxSupport, WritablePlaces,
};
use toolwright_command_protocol::{HELLO, MAX_DESCRIPTORS, stop_message};

/// Longer than any command of these tests takes.
const LIMIT: Duration = Duration::from_mins(1);
/// The user and group id of the ordinary user of these tests.
const ORDINARY: u32 = 65_534;

/// The user that runs the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestUser {
    /// The user that runs the tests.
    Same,
    /// An unprivileged user. Requires that root runs the tests.
    Ordinary,
}

/// A supervisor, and a directory that belongs to the user of its commands.
pub(crate) struct SandboxBed {
    socket: OwnedFd,
    supervisor: Child,
    pub(crate) level: SandboxLevel,
    pub(crate) support: SandboxSupport,
    home: TempDir,
}

/// A command that runs.
pub(crate) struct RunningCommand {
    connection: UnixStream,
    output: std::io::PipeReader,
    received: Vec<u8>,
    pub(crate) keeper: ProcessIdentity,
}

/// The report and the output of an ended command.
#[derive(Debug)]
pub(crate) struct EndedCommand {
    pub(crate) text: String,
    pub(crate) report: EndReport,
}

/// A plan in namespaces that restricts nothing.
pub(crate) fn plan() -> SandboxPlan {
    SandboxPlan { level: SandboxLevel::Namespaces, ..SandboxPlan::default() }
}

/// The users that tests can run commands as.
pub(crate) fn users() -> Vec<TestUser> {
    if rustix::process::geteuid().is_root() {
        vec![TestUser::Same, TestUser::Ordinary]
    } else {
        vec![TestUser::Same]
    }
}

impl SandboxBed {
    /// A bed whose commands run as this user.
    pub(crate) fn of(user: TestUser) -> Self {
        Self::below(&[], user)
    }

    /// Like [`Self::of`], with a supervisor that another program starts. `starter` is its command
    /// line.
    pub(crate) fn below(starter: &[&str], user: TestUser) -> Self {
        let home = TempDir::new().unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_toolwright-supervisor"));
        let mut arguments: Vec<OsString> = starter.iter().map(OsString::from).collect();
        match user {
            TestUser::Same => arguments.push(program.into()),
            TestUser::Ordinary => {
                std::os::unix::fs::chown(home.path(), Some(ORDINARY), Some(ORDINARY)).unwrap();
                // The build directory may be closed to other users.
                let copy = home.path().join("supervisor");
                // Not `fs::copy`: another thread may fork meanwhile, and while its child has the
                // file open for writing, the kernel does not execute it.
                let copied = Command::new("cp").arg(program).arg(&copy).status().unwrap();
                assert!(copied.success());
                let id = ORDINARY.to_string();
                let drops = ["setpriv", "--reuid", &id, "--regid", &id, "--clear-groups", "--"];
                arguments.splice(0..0, drops.map(OsString::from));
                arguments.push(copy.into());
            }
        }
        let mut command = Command::new(&arguments[0]);
        command.args(&arguments[1..]);
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let variables = format!("PATH={path}\0HOME={}\0\0\0", home.path().display());
        let supervisor = command
            .arg(home.path().join("files"))
            .env_clear()
            .env("PATH", &path)
            .current_dir("/")
            .stdin(theirs)
            .stdout(memory_file(variables.as_bytes()))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It has the supervisor's end of the socket, which would hide that the supervisor has ended.
        drop(command);
        let mut hello = [0; 1024];
        let (_, length) = recv(&socket, &mut hello, RecvFlags::empty()).unwrap();
        let support = hello[..length].strip_prefix(&HELLO).unwrap();
        let support = SandboxSupport::decode(support).unwrap();
        Self { socket, supervisor, level: support.level(), support, home }
    }

    /// The directory that commands start in.
    pub(crate) fn home(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap()
    }

    /// Makes a file and its parent directories, owned by the user of the commands.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        let parent = path.parent().unwrap();
        fs::create_dir_all(parent).unwrap();
        fs::write(&path, text).unwrap();
        let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(self.home()).unwrap());
        for path in path.ancestors().take_while(|it| *it != self.home()) {
            std::os::unix::fs::chown(path, Some(owner), Some(owner)).unwrap();
        }
        path
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, plan: &SandboxPlan, command: &str) -> EndedCommand {
        self.start(Some(plan), command).end()
    }

    /// Starts a command.
    pub(crate) fn start(&self, plan: Option<&SandboxPlan>, command: &str) -> RunningCommand {
        let request = CommandRequest {
            kind: RequestKind::Command,
            is_sandboxed: plan.is_some(),
            is_proxied: false,
            linger_ms: 100,
            grace_ms: 200,
            shell: b"/bin/bash".to_vec(),
            cwd: self.home().as_os_str().as_bytes().to_vec(),
            command: command.as_bytes().to_vec(),
            variables: Vec::new(),
            parameters: Vec::new(),
        };
        let (connection, theirs) = UnixStream::pair().unwrap();
        connection.set_read_timeout(Some(LIMIT)).unwrap();
        let (output, written) = std::io::pipe().unwrap();
        let plan = plan.map(|it| memory_file(&it.encode()));
        let plan = plan.as_ref().map(File::as_fd);
        let descriptors: Vec<_> =
            [theirs.as_fd(), written.as_fd()].into_iter().chain(plan).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let message = request.encode();
        sendmsg(&self.socket, &[IoSlice::new(&message)], &mut ancillary, SendFlags::NOSIGNAL)
            .unwrap();
        drop((theirs, written));
        let mut received = Vec::new();
        let KeeperMessage::Accepted(keeper) = next_message(&connection, &mut received) else {
            panic!("the command ended before it was accepted");
        };
        RunningCommand { connection, output, received, keeper }
    }
}

impl Drop for SandboxBed {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        let _ = self.supervisor.wait();
    }
}

impl RunningCommand {
    /// Waits for its end.
    pub(crate) fn end(mut self) -> EndedCommand {
        let mut text = Vec::new();
        self.output.read_to_end(&mut text).unwrap();
        let KeeperMessage::Ended(report) = next_message(&self.connection, &mut self.received)
        else {
            panic!("the command was accepted twice");
        };
        EndedCommand { text: String::from_utf8_lossy(&text).into_owned(), report }
    }

    /// Reads its output until it has written this.
    pub(crate) fn wait_for(&mut self, wanted: &str) {
        let mut text = Vec::new();
        let mut byte = [0];
        while !text.ends_with(wanted.as_bytes()) {
            self.output.read_exact(&mut byte).unwrap();
            text.extend(byte);
        }
    }

    /// Waits until no process can write to its output any more.
    pub(crate) fn wait_for_end(&mut self) {
        self.output.read_to_end(&mut Vec::new()).unwrap();
    }

    /// Closes the connection, as if the host were gone.
    pub(crate) fn hang_up(&self) {
        self.connection.shutdown(std::net::Shutdown::Both).unwrap();
    }

    /// Requests its end.
    pub(crate) fn stop(&mut self, grace_ms: u32) {
        self.connection.write_all(&stop_message(grace_ms)).unwrap();
    }
}

impl EndedCommand {
    /// Its output. Panics unless it ended with this exit code.
    pub(crate) fn with_code(self, code: i32) -> String {
        assert_eq!(self.report.exit_code, Some(code), "{self:?}");
        self.text
    }
}

fn next_message(mut connection: &UnixStream, received: &mut Vec<u8>) -> KeeperMessage {
    loop {
        if let Some(message) = KeeperMessage::take(received) {
            return message;
        }
        let mut piece = [0; 8192];
        let length = connection.read(&mut piece).unwrap();
        assert_ne!(length, 0, "the keeper is gone");
        received.extend(&piece[..length]);
    }
}

fn memory_file(text: &[u8]) -> File {
    let name = CString::new("toolwright-test").unwrap();
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::memfd_create(&name, flags).unwrap());
    file.write_all(text).unwrap();
    file.rewind().unwrap();
    file
}
