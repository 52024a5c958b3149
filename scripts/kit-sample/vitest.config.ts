// The parts of the suite that have a corpus, with the kits marked, and the files that run the whole of each corpus.

import type { TestProjectInlineConfiguration } from 'vitest/config'
import { ROOT } from '../../test/support/source-tree.ts'
import base from '../../vitest.config.ts'
import { markPlaces, placesOfKits } from './places.ts'

const RECORDERS: Readonly<Record<string, string>> = {
  workers: 'test/helpers/record-commands.ts',
  node: 'test/helpers/record-options.ts',
}

const plugin = markPlaces(placesOfKits())

function isInline(project: unknown): project is TestProjectInlineConfiguration {
  return typeof project === 'object' && project !== null && 'test' in project
}

function recording(project: TestProjectInlineConfiguration): TestProjectInlineConfiguration[] {
  const recorder = RECORDERS[String(project.test?.name)]
  if (recorder === undefined) return []
  const globalSetup = [project.test?.globalSetup ?? []].flat()
  return [
    {
      ...project,
      plugins: [plugin, ...(project.plugins ?? [])],
      test: {
        ...project.test,
        include: [recorder],
        globalSetup: [...globalSetup, 'scripts/kit-sample/collector.ts'],
        // Each entry has the marks to itself.
        maxWorkers: 1,
      },
    },
  ]
}

// biome-ignore lint/style/noDefaultExport: that is how vitest reads a configuration.
export default {
  ...base,
  root: ROOT,
  test: { ...base.test, projects: (base.test?.projects ?? []).filter(isInline).flatMap(recording) },
}
