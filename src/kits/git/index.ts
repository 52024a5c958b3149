// The public interface of the git kit.

// A stored repository, and the commit with which its changes are compared.
export { baseOf } from './base.ts'
// Trees and the states of the files in them, in git's sort order.
export { byteOrder } from './bytes.ts'
// The comparison of two texts, as in a patch.
export { hunksOf } from './diffing/hunks.ts'
// Failures of git: `fatal` is for code that implements git, `explainedFailure` for code that calls git.
export { explainedFailure } from './explain.ts'
export { fatal } from './failure.ts'
// The command `git` of a shell, and the services it gets from outside the workspace. Also the initial working copy.
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
