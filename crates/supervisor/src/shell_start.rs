//! Starts the shell of a command, and reads the directory in which it ended.

use std::{
    ffi::{CStr, CString},
    fs, io,
    os::fd::OwnedFd,
};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use toolwright_command_protocol::{CommandRequest, MAX_CWD_BYTES, shell_arguments, shell_name};

use crate::{
    sandbox::Restrictions,
    shell_text::{execs_a_program, is_complete},
    system_calls::{self, ProgramStart},
};

/// The length at which the kernel truncates a program's name.
const MAX_NAME_BYTES: usize = 15;

/// The descriptors that become the standard streams of the shell.
pub(crate) struct ShellStreams {
    pub(crate) output: OwnedFd,
    /// None when errors go to the output.
    pub(crate) errors: Option<OwnedFd>,
    /// None for an empty input.
    pub(crate) input: Option<OwnedFd>,
}

/// Starts the shell. It shares its current directory with this process, so that the directory in which it
/// ends is known without adding anything to the command.
pub(crate) fn start_shell(
    request: &CommandRequest,
    streams: &ShellStreams,
    environment: &[CString],
    restrictions: &Restrictions,
) -> io::Result<Pid> {
    rustix::process::chdir(request.cwd.as_slice())?;
    let program = CString::new(request.shell.as_slice())?;
    let mut text = request.command.clone();
    if is_complete(&text) {
        // Instead of starting the last program of a text, a shell may replace itself with it (`execve`). If
        // that program changed its directory, it would look like a `cd` of the shell. With an empty line
        // after it, the program is not the last.
        text.extend(b"\n\n");
    }
    let parameters = request.parameters.iter().map(Vec::as_slice);
    let arguments = shell_arguments(&request.shell, &text)
        .into_iter()
        .chain(parameters)
        .map(CString::new)
        .collect::<Result<Vec<_>, _>>()?;
    let arguments: Vec<&CStr> = arguments.iter().map(CString::as_c_str).collect();
    system_calls::start_program(&ProgramStart {
        // The kernel ignores the set-user-ID bit of a program that shares its directory with
        // another process. A shell that becomes such a program is not followed anyway.
        shares_directory: !execs_a_program(&request.command),
        program: &program,
        arguments: &arguments,
        environment,
        input: streams.input.as_ref(),
        output: &streams.output,
        errors: streams.errors.as_ref().unwrap_or(&streams.output),
        restrictions,
    })
}

/// The last working directory of a shell that has exited and was not reaped yet. `None` while it
/// runs. If the shell has replaced itself with another program, it has that program's name, and the
/// directory is not the shell's.
pub(crate) fn last_directory(request: &CommandRequest, shell: Pid) -> Option<Vec<u8>> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if !matches!(waitid(WaitId::Pid(shell), look), Ok(Some(_))) {
        return None;
    }
    let name = fs::read(format!("/proc/{}/comm", shell.as_raw_nonzero())).ok()?;
    let wanted = shell_name(&request.shell);
    let wanted = wanted.get(..MAX_NAME_BYTES).unwrap_or(wanted);
    if name.strip_suffix(b"\n") != Some(wanted) {
        return None;
    }
    rustix::process::getcwd(Vec::new()).ok().and_then(reportable_directory)
}

/// Returns the directory if it can be reported. A removed directory has no absolute path.
fn reportable_directory(directory: CString) -> Option<Vec<u8>> {
    let directory = directory.into_bytes();
    (directory.first() == Some(&b'/') && directory.len() <= MAX_CWD_BYTES).then_some(directory)
}
