// The suite as it is, in the order that is asked for; with MUTATE_REACH=1 every function that is called leaves a mark.

import { join } from 'node:path'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import base from '../../vitest.config.ts'
import { type Marks, markFunctions } from './instrument.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SETUP = join(import.meta.dirname, 'reach-setup.ts')
const isReach = process.env.MUTATE_REACH === '1'
const WORKERS = isReach ? 2 : 1

class AsAsked {
  shard<T>(files: T[]): T[] {
    return files
  }
  sort<T>(files: T[]): T[] {
    return files
  }
}

/** Read by the process that this configuration is loaded in. */
const marks: Marks = new Map()
Object.assign(globalThis, { __mutateMarks: marks })

/** Marks are wanted soon; a mutant takes one process's worth of the machine. */
function inOrder(project: TestProjectInlineConfiguration): TestProjectInlineConfiguration {
  return { ...project, test: { ...project.test, maxWorkers: WORKERS } }
}

function withMarks(project: TestProjectInlineConfiguration): TestProjectInlineConfiguration {
  const test = project.test ?? {}
  const setupFiles = [SETUP, ...[test.setupFiles ?? []].flat()]
  return {
    ...project,
    plugins: [markFunctions(ROOT, marks), ...(project.plugins ?? [])],
    test: { ...test, setupFiles },
  }
}

function isInline(project: unknown): project is TestProjectInlineConfiguration {
  return typeof project === 'object' && project !== null && 'test' in project
}

const projects = (base.test?.projects ?? []).filter(isInline).map(inOrder)

// biome-ignore lint/style/noDefaultExport: that is how vitest reads a configuration.
export default {
  ...base,
  root: ROOT,
  test: {
    ...base.test,
    maxWorkers: WORKERS,
    sequence: { sequencer: AsAsked },
    projects: isReach ? projects.map(withMarks) : projects,
  },
}
