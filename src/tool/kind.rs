//! What a tool is to those who judge its calls: said once by the tool, derived everywhere else.

/// What a tool does to the world, as far as rules tell tools apart. A rule with a pattern, such as
/// `Edit(src/**)`, is about a whole family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolFamily {
    /// Looks at files and directories.
    ReadsFiles,
    /// Creates or changes files.
    EditsFiles,
    /// Runs command lines.
    RunsCommands,
    /// Fetches a URL.
    Fetches,
}

impl ToolFamily {
    /// True when a limit on the tool that names the family closes all of it. Whoever forbids editing
    /// does not mean that files may be written over instead; whoever forbids reading whole files may
    /// well mean that they can be searched.
    pub const fn is_closed_by_its_name(self) -> bool {
        matches!(self, Self::EditsFiles)
    }
}

/// What kind of tool it is. The tools of hosts and of MCP servers are of no kind, because nobody but
/// they knows what they touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolKind {
    /// What it does, where rules tell it apart.
    pub family: Option<ToolFamily>,
    /// The parameters that say what a call touches: paths, a command line or a URL, by its family.
    pub inputs: &'static [&'static str],
    /// The name that rules know it by, where that is the name of the same tool in another set.
    pub twin_of: Option<&'static str>,
    /// True for the tool that the rules of its family are written with.
    pub names_family: bool,
    /// True when a call that no rule decides needs no question: it only looks, or it is about what the
    /// session itself has started.
    pub runs_unasked: bool,
}

impl ToolKind {
    /// A tool that rules know by its name alone.
    pub const PLAIN: Self =
        Self { family: None, inputs: &[], twin_of: None, names_family: false, runs_unasked: false };

    /// A tool that looks at the files that these parameters name.
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

    /// The same tool as one of another set: rules about one are about both.
    #[must_use]
    pub const fn twin_of(self, name: &'static str) -> Self {
        Self { twin_of: Some(name), ..self }
    }

    /// The tool that the rules of its family are written with.
    #[must_use]
    pub const fn naming_its_family(self) -> Self {
        Self { names_family: true, ..self }
    }

    /// A tool whose calls need no question where no rule decides.
    #[must_use]
    pub const fn running_unasked(self) -> Self {
        Self { runs_unasked: true, ..self }
    }
}
