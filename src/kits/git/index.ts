// The face of the git kit.

// A repository as it is stored, and the commit that its changes are measured against.
export { baseOf } from './base.ts'
// Trees and the states of the files in them, in the order in which git sorts names.
export { byteOrder } from './bytes.ts'
// Two texts compared, as a patch shows it.
export { hunksOf } from './diffing/hunks.ts'
// How git fails: `fatal` is for those whom git asks, `explainedFailure` for those who ask git.
export { explainedFailure } from './explain.ts'
export { fatal } from './failure.ts'
// The command `git` of a shell, and what it is told of the world outside the workspace.
// A working copy to begin with.
export { checkoutFreshBranch, cloneRepository, freshBranchName, gitCommand } from './git-command.ts'
export { preCommitHook } from './hooks.ts'
export { DEFAULT_IDENTITY } from './identity.ts'
export { MissingObjectError, ObjectStore } from './object-store.ts'
export { type FileState, MODE, objectId, sameState } from './objects.ts'
export type { Credential, GitRemotes, Identity } from './remotes.ts'
export { Repository } from './repository.ts'
export { diffTrees } from './tree.ts'
// The files of a working tree as git sees them.
export { contentsAt, isBehindLink, isRepository, modeOf } from './worktree.ts'
