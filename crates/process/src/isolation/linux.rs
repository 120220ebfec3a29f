//! Landlock and seccomp for a process that only computes.

use std::collections::BTreeMap;

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetError, RulesetStatus};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

use crate::confinement::Restriction;

/// The newest Landlock ABI requested; an older kernel applies the rights that it knows.
const RIGHTS: ABI = ABI::V5;

/// The system calls of a program that computes, with threads, on descriptors that are open.
const ALLOWED: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mincore,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_ppoll,
    libc::SYS_prctl,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_sysinfo,
    libc::SYS_write,
    libc::SYS_writev,
];

/// An error of the filter.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilterError {
    #[error("the filter cannot be built: {0}")]
    Build(#[from] seccompiler::BackendError),
    #[error("the filter cannot be installed: {0}")]
    Install(#[from] seccompiler::Error),
}

/// Refuses all files and all TCP connections from now on.
pub(super) fn restrict_files() -> Result<Restriction, RulesetError> {
    let rules = Ruleset::default()
        .handle_access(AccessFs::from_all(RIGHTS))?
        .handle_access(AccessNet::from_all(RIGHTS))?
        .create()?;
    Ok(match rules.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => Restriction::Full,
        RulesetStatus::PartiallyEnforced => Restriction::Partial,
        RulesetStatus::NotEnforced => Restriction::Unavailable,
    })
}

/// Refuses all system calls but [`ALLOWED`] and new threads from now on.
pub(super) fn restrict_system_calls() -> Result<Restriction, FilterError> {
    // The filter knows these processors only.
    let Ok(processor) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(Restriction::Unavailable);
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    // The same call starts a process, which would have limits of its own.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let is_thread =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), thread)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![is_thread])?]);
    // With `ENOSYS`, the C library falls back from `clone3`, whose flags a filter cannot see, to
    // `clone`, and readers see an ordinary error.
    let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(rules, missing, SeccompAction::Allow, processor)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)?;
    Ok(Restriction::Full)
}
