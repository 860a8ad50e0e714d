//! The cgroups of commands, on directories that look like the kernel's. The tests are in the file itself, which
//! is a part of the supervisor.

#[path = "../../src/supervisor/sandbox/cgroup.rs"]
#[allow(dead_code, reason = "the supervisor uses the rest")]
mod cgroup;

#[path = "../../src/process/sandbox/plan.rs"]
#[allow(dead_code, reason = "the host and the supervisor use the rest")]
mod plan;
