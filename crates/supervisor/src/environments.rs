//! The environments of commands and of helpers.

use std::{
    ffi::CString,
    io::{self, Read as _},
};

use toolwright_command_protocol::{CommandRequest, RequestKind};

/// The environments of commands and of helpers.
pub(crate) struct Environments {
    pub(crate) commands: Vec<CString>,
    pub(crate) helpers: Vec<CString>,
}

impl Environments {
    /// Reads the environments from the file that is passed as standard output: the variables for commands
    /// and those for helpers, each followed by a NUL, with one more NUL between the two lists.
    pub(crate) fn read() -> io::Result<Self> {
        let mut text = Vec::new();
        std::fs::File::from(rustix::io::dup(io::stdout())?).read_to_end(&mut text)?;
        let mut variables = text.split(|it| *it == 0);
        let mut next = || -> Vec<CString> {
            variables
                .by_ref()
                .take_while(|it| !it.is_empty())
                .filter_map(|it| CString::new(it).ok())
                .collect()
        };
        Ok(Self { commands: next(), helpers: next() })
    }

    /// The environment of one command, with the variable that marks its processes.
    pub(crate) fn of(&self, request: &CommandRequest, cookie: &CString) -> Vec<CString> {
        let mut environment = match request.kind {
            RequestKind::Command | RequestKind::Server => self.commands.clone(),
            RequestKind::Helper => self.helpers.clone(),
        };
        for variable in &request.variables {
            set_variable(&mut environment, variable);
        }
        environment.push(cookie.clone());
        environment
    }
}

/// Sets a variable, in place of one of the same name.
pub(crate) fn set_variable(environment: &mut Vec<CString>, variable: &[u8]) {
    let name = |text: &[u8]| text.split(|it| *it == b'=').next().map(<[u8]>::to_vec);
    environment.retain(|it| name(it.to_bytes()) != name(variable));
    environment.extend(CString::new(variable));
}
