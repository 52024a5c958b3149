// Finds test files by their names, like Node.

import type { FileSystem } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'
import { statAt } from '../../workspace/stat.ts'
import { GraphError } from './module-graph.ts'

const MAX_FILES = 200
const MAX_DEPTH = 12
const SCRIPT = /\.[cm]?js$/

/** In the order of their names. `asked` are files and folders; without any, the folder is searched. */
export function testFiles(fs: FileSystem, { cwd, asked }: { cwd: string; asked: readonly string[] }): string[] {
  const files = asked.length === 0 ? searched(fs, cwd) : asked.flatMap((one) => named(fs, resolvePath(cwd, one)))
  if (files.length > MAX_FILES)
    throw new GraphError(`There are more than ${MAX_FILES} test files; name the ones to run`)
  return files
}

function named(fs: FileSystem, path: string): string[] {
  const kind = statAt(fs, path)?.kind ?? null
  if (kind === null) throw new GraphError(`Could not find '${path}'`)
  return kind === 'directory' ? searched(fs, path) : [path]
}

function searched(fs: FileSystem, root: string): string[] {
  const found: string[] = []
  const walk = (folder: string, depth: number, inTest: boolean): void => {
    for (const { name, kind } of fs.list(folder)) {
      const path = `${folder === '/' ? '' : folder}/${name}`
      if (kind === 'file' && SCRIPT.test(name) && (inTest || isTestName(name))) found.push(path)
      const goesOn = kind === 'directory' && name !== 'node_modules' && !name.startsWith('.') && depth < MAX_DEPTH
      if (goesOn) walk(path, depth + 1, inTest || name === 'test')
    }
  }
  walk(root, 0, root.endsWith('/test'))
  return found
}

function isTestName(name: string): boolean {
  const stem = name.replace(SCRIPT, '')
  return stem === 'test' || /^test-/.test(stem) || /[._-]test$/.test(stem)
}
