//! The kind of a tool, which each tool declares once. Rules, risk and listings follow from it, so that
//! none of them depends on tool names.

/// The families of tools that rules distinguish. A rule with a pattern, such as `Edit(src/**)`, applies to a
/// whole family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolFamily {
    /// Reads files and directories.
    ReadsFiles,
    /// Creates or changes files.
    EditsFiles,
    /// Runs command lines.
    RunsCommands,
    /// Fetches a URL.
    Fetches,
}

impl ToolFamily {
    /// True when a rule that denies the tool the family is named after denies the whole family. Denying
    /// `Edit` must also deny overwriting files. Denying `Read`, however, may be meant to leave
    /// searching allowed.
    pub const fn is_closed_by_its_name(self) -> bool {
        matches!(self, Self::EditsFiles)
    }
}

/// What plan mode means for a tool that does more than read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InPlanMode {
    /// It is denied, unless it runs commands or fetches, which ask.
    #[default]
    Limited,
    /// It asks. Its work is done by further calls, and each of them is judged in a conversation that
    /// has no more rights than this one.
    Asked,
    /// It leaves plan mode. A person decides about every call, even if a rule, mode or hook allows it.
    LeadsOut,
}

/// The kind of a tool. The tools of hosts and of MCP servers have the plain kind, because the files
/// they touch are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolKind {
    /// The family of the tool, if it belongs to one.
    pub family: Option<ToolFamily>,
    /// The parameters that name what a call touches: paths, a command or a URL, depending on the family.
    pub inputs: &'static [&'static str],
    /// The name of the same tool in another set, which rules use for both.
    pub twin_of: Option<&'static str>,
    /// True for the tool that its family is named after in rules.
    pub names_family: bool,
    /// True when calls that no rule matches run without asking, because they only read, or only affect
    /// what the session itself started.
    pub runs_unasked: bool,
    /// What plan mode means for it.
    pub in_plan_mode: InPlanMode,
}

impl ToolKind {
    /// A tool of which rules know only the name.
    pub const PLAIN: Self = Self {
        family: None,
        inputs: &[],
        twin_of: None,
        names_family: false,
        runs_unasked: false,
        in_plan_mode: InPlanMode::Limited,
    };

    /// A tool that reads the files that these parameters name.
    pub const fn reads_files(paths: &'static [&'static str]) -> Self {
        Self { runs_unasked: true, ..Self::of(ToolFamily::ReadsFiles, paths) }
    }

    /// A tool that changes the files that these parameters name.
    pub const fn edits_files(paths: &'static [&'static str]) -> Self {
        Self::of(ToolFamily::EditsFiles, paths)
    }

    /// A tool that runs the command line in these parameters.
    pub const fn runs_commands(commands: &'static [&'static str]) -> Self {
        Self::of(ToolFamily::RunsCommands, commands)
    }

    /// A tool that fetches the URL in these parameters.
    pub const fn fetches(urls: &'static [&'static str]) -> Self {
        Self::of(ToolFamily::Fetches, urls)
    }

    const fn of(family: ToolFamily, inputs: &'static [&'static str]) -> Self {
        Self { family: Some(family), inputs, ..Self::PLAIN }
    }

    /// Declares that this is the same tool as one of another set, so that rules apply to both.
    #[must_use]
    pub const fn twin_of(self, name: &'static str) -> Self {
        Self { twin_of: Some(name), ..self }
    }

    /// Declares that the family is named after this tool in rules.
    #[must_use]
    pub const fn naming_its_family(self) -> Self {
        Self { names_family: true, ..self }
    }

    /// Declares what plan mode means for the tool.
    #[must_use]
    pub const fn in_plan_mode(self, in_plan_mode: InPlanMode) -> Self {
        Self { in_plan_mode, ..self }
    }

    /// Declares that calls run without asking if no rule matches them.
    #[must_use]
    pub const fn running_unasked(self) -> Self {
        Self { runs_unasked: true, ..self }
    }
}
