//! Containers, clusters and clouds, by their everyday subcommands.

use super::super::{
    Operands, PLAIN, Program, Style,
    Takes::{Flag, Puts, Reads, Text, Unclear, UnclearValue, Within, Writes},
};

/// Names of things in the cluster or cloud. A word that is also a path counts as one.
const NAMES: Program =
    Program { operands: Operands::ProjectArguments(0), style: Style::Project, ..PLAIN };

/// It runs or shows something that its words do not name.
const UNCLEAR: Program = Program { operands: Operands::Unclear, style: Style::Project, ..PLAIN };

const DOCKER: Program = Program {
    names: &["docker", "podman", "nerdctl", "docker-compose"],
    options: &[
        (Text, &[
            "-H", "--host", "--context", "-c", "-l", "--log-level", "-p", "--project-name",
            "--profile",
        ]),
        (Reads, &[
            "--config", "-f", "--file", "--env-file", "--tlscacert", "--tlscert", "--tlskey",
        ]),
        (Within, &["--project-directory"]),
        (Flag, &["-v", "--version", "-D", "--debug", "--help"]),
    ],
    style: Style::Leading,
    subcommands: &[
        Program {
            names: &[
                "ps", "images", "logs", "inspect", "pull", "push", "stop", "start", "restart", "rm",
                "rmi", "kill", "pause", "unpause", "stats", "top", "port", "tag", "version", "info",
                "login", "logout", "search", "history", "events", "rename", "wait", "diff",
                "update", "ls", "down", "config", "network", "volume", "image", "container",
                "system", "context", "manifest",
            ],
            options: &[(
                Text,
                &["-f", "--filter", "--format", "-n", "--tail", "--since", "--until", "-t"],
            )],
            ..NAMES
        },
        // `build` copies a whole directory into an image, and a mount exposes one to a container.
        Program {
            names: &[
                "build", "buildx", "run", "create", "exec", "cp", "save", "load", "export",
                "import", "commit", "attach", "up", "stack", "swarm", "service", "plugin", "trust",
                "debug", "init",
            ],
            ..UNCLEAR
        },
        Program {
            names: &["compose"],
            options: &[
                (Text, &["-p", "--project-name", "--profile"]),
                (Reads, &["-f", "--file", "--env-file"]),
                (Within, &["--project-directory"]),
            ],
            subcommands: &[
                Program {
                    names: &[
                        "ps", "logs", "ls", "images", "top", "stop", "start", "restart", "down",
                        "pull", "push", "rm", "version", "port", "events", "kill", "pause",
                        "unpause",
                    ],
                    options: &[
                        (Text, &["-n", "--tail", "--since", "-t", "--format", "--filter"]),
                        (Flag, &["-f", "--follow"]),
                    ],
                    ..NAMES
                },
                Program {
                    names: &[
                        "up", "run", "exec", "build", "create", "cp", "config", "convert", "watch",
                    ],
                    ..UNCLEAR
                },
            ],
            style: Style::Leading,
            ..PLAIN
        },
    ],
    ..PLAIN
};

const KUBECTL: Program = Program {
    names: &["kubectl", "oc", "k9s"],
    options: &[
        (Text, &["-n", "--namespace", "--context", "--cluster", "--user", "-s", "--server", "-v"]),
        (Reads, &["--kubeconfig", "--token-file", "--certificate-authority"]),
    ],
    style: Style::Leading,
    subcommands: &[
        Program {
            names: &[
                "get", "describe", "logs", "top", "explain", "api-resources", "api-versions",
                "version", "cluster-info", "config", "delete", "scale", "rollout", "label",
                "annotate", "cordon", "uncordon", "drain", "expose", "wait", "auth", "events",
                "autoscale", "taint", "set",
            ],
            options: &[
                (Text, &[
                    "-n", "--namespace", "-o", "--output", "-l", "--selector", "--field-selector",
                    "--sort-by", "--tail", "--since", "-c", "--container", "--context",
                    "--replicas", "--for", "--timeout",
                ]),
                (Reads, &["--filename", "--kubeconfig"]),
            ],
            ..NAMES
        },
        Program {
            names: &[
                "apply", "create", "replace", "patch", "diff", "kustomize", "exec", "run", "cp",
                "attach", "port-forward", "proxy", "debug", "edit", "plugin",
            ],
            options: &[(Reads, &["-f", "--filename", "-k", "--kustomize", "--patch-file"])],
            ..UNCLEAR
        },
    ],
    ..PLAIN
};

const GH: Program = Program {
    names: &["gh", "glab"],
    options: &[
        (Text, &[
            "-R", "--repo", "-t", "--title", "-b", "--body", "-l", "--label", "-a", "--assignee",
            "-m", "--milestone", "-B", "--base", "-H", "--head", "-q", "--jq", "--template", "-L",
            "--limit", "-s", "--state", "-r", "--reviewer", "--json", "-X", "--method",
        ]),
        (Reads, &["-F", "-f", "--raw-field", "--field", "--body-file", "--notes-file", "--input"]),
        (Puts, &["-D", "--dir"]),
        (Writes, &["-O", "--output"]),
    ],
    operands: Operands::ProjectArguments(2),
    ..NAMES
};

const TERRAFORM: Program = Program {
    names: &[
        "terraform", "tofu", "terragrunt", "pulumi", "helm", "ansible", "ansible-playbook",
        "packer", "vagrant", "serverless", "sls", "cdk", "sam", "fly", "flyctl", "vercel",
        "netlify", "wrangler", "heroku", "firebase", "supabase", "railway",
    ],
    options: &[
        (Within, &["-chdir"]),
        (Reads, &["-var-file", "-f", "--values", "-i", "--inventory"]),
        (Writes, &["-out", "-state-out"]),
        (Text, &["-var", "-target", "-n", "--namespace", "--set"]),
    ],
    operands: Operands::ProjectArguments(1),
    ..NAMES
};

/// Values may be files: `file://x`, `fileb://x`. Copies read and write them.
const AWS: Program = Program {
    names: &["aws", "gcloud", "gsutil", "az", "s3cmd", "rclone", "doctl"],
    options: &[
        (Text, &[
            "--region", "--profile", "--output", "--query", "--filters", "--project", "--zone",
            "-o", "-g", "--subscription", "--format", "--filter", "--limit", "--max-items",
        ]),
        (Flag, &["--no-cli-pager", "--debug", "--dryrun"]),
        (Reads, &[
            "--cli-input-json", "--ca-bundle", "--template-file", "--zip-file", "--key-file",
        ]),
    ],
    style: Style::Project,
    operands: Operands::CloudArguments,
    ..PLAIN
};

const DATABASES: Program = Program {
    names: &[
        "psql", "mysql", "sqlite3", "redis-cli", "mongosh", "mongo", "pg_dump", "pg_restore",
        "mysqldump", "duckdb",
    ],
    operands: Operands::Unclear,
    options: &[(Unclear, &["-c"])],
    ..PLAIN
};

const OPENSSL: Program = Program {
    names: &[
        "openssl", "gpg", "gpg2", "ssh-keygen", "age", "sops", "vault", "pass", "op", "security",
        "keytool",
    ],
    operands: Operands::Unclear,
    options: &[(UnclearValue, &["-in"])],
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] = &[DOCKER, KUBECTL, GH, TERRAFORM, AWS, DATABASES, OPENSSL];
