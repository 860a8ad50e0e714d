//! The capabilities of a command. An ordinary user keeps none; root keeps those with which packages are
//! installed and users changed, and none with which the sandbox could be left.

use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::SandboxError;

/// What root keeps.
const KEPT_BY_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::SETFCAP);

const fn kept(is_root: bool) -> CapabilitySet {
    if is_root { KEPT_BY_ROOT } else { CapabilitySet::empty() }
}

/// Bounds what a program that is run later can have. Until then this process keeps all it has.
pub(crate) fn bound_capabilities(is_root: bool) -> Result<(), SandboxError> {
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if kept(is_root).contains(capability) {
            continue;
        }
        match remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The kernel knows no higher one.
            Err(rustix::io::Errno::INVAL) => break,
            Err(cause) => {
                return Err(SandboxError::refused("capabilities cannot be bounded", cause));
            }
        }
    }
    Ok(())
}

/// Gives up all capabilities but the kept ones, for good: no program that is run gives them back.
pub(crate) fn drop_capabilities(is_root: bool) -> Result<(), SandboxError> {
    let refused = |cause| SandboxError::refused("capabilities cannot be dropped", cause);
    let kept = kept(is_root);
    clear_ambient_capability_set().map_err(refused)?;
    let sets =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(refused)?;
    set_no_new_privs(true).map_err(refused)
}
