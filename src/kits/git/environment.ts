// The environment variables and global options that determine the repository and how it is read.

import type { FileSystem } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'
import { isKey } from './config-file.ts'
import { fatal } from './failure.ts'
import { Repository } from './repository.ts'
import type { Pace } from './tree.ts'

type Environment = Readonly<Record<string, string>>

/** They make git use other files, or change the meaning of its arguments. Ignoring them would run a different command. */
const REFUSED = [
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_NAMESPACE',
  'GIT_CONFIG',
  'GIT_CONFIG_PARAMETERS',
  'GIT_LITERAL_PATHSPECS',
  'GIT_GLOB_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_DIFF_OPTS',
  'GIT_EXTERNAL_DIFF',
  'GIT_DEFAULT_HASH',
]

export function refuseEnvironment(env: Environment): void {
  const found = REFUSED.find((name) => env[name] !== undefined && env[name] !== '' && env[name] !== '0')
  if (found !== undefined) throw fatal(`the environment variable ${found} is not available here`)
}

/** Settings from `GIT_CONFIG_KEY_0` and so on. */
export function settingsIn(env: Environment): { key: string; value: string }[] {
  const text = env.GIT_CONFIG_COUNT || '0'
  if (!/^\d+$/.test(text)) throw fatal(`bogus count in GIT_CONFIG_COUNT`)
  return Array.from({ length: Math.min(Number(text), 1000) }, (_, i) => {
    const [key, value] = [env[`GIT_CONFIG_KEY_${i}`], env[`GIT_CONFIG_VALUE_${i}`]]
    if (key === undefined) throw fatal(`missing config key GIT_CONFIG_KEY_${i}`)
    if (value === undefined) throw fatal(`missing config value GIT_CONFIG_VALUE_${i}`)
    if (!isKey(key)) throw fatal(`bogus config key '${key}' in GIT_CONFIG_KEY_${i}`)
    return { key, value }
  })
}

type Named = { fs: FileSystem; pace: Pace; cwd: string; gitDir: string | undefined; workTree: string | undefined }

/** The repository named by `--git-dir` or `GIT_DIR`; undefined if there is none, so that it must be searched. */
export function namedRepository({ fs, pace, cwd, gitDir, workTree }: Named): Repository | undefined {
  if (!gitDir) {
    if (workTree) throw fatal('a working tree (GIT_WORK_TREE) without GIT_DIR is not available here')
    return undefined
  }
  const folder = resolvePath(cwd, gitDir)
  const root = folder.replace(/\/\.git$/, '') || '/'
  const found = Repository.around({ fs, pace }, folder.endsWith('/.git') ? root : folder)
  if (!found || found.gitDir !== folder) throw fatal(`not a git repository: '${gitDir}'`)
  if (found.isBare && workTree)
    throw fatal('a working tree for a bare repository (GIT_WORK_TREE) is not available here')
  const top = workTree ? resolvePath(cwd, workTree) : cwd
  if (!found.isBare && top !== found.root)
    throw fatal(`a repository (GIT_DIR) whose working tree is elsewhere ('${top}') is not available here`)
  return found
}
