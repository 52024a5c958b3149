// CSV and ZIP files of other projects: texts with their expected rows, archives with their expected contents.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readZipDirectory, unpackedEntries } from '../../src/kits/zip/index.ts'
import { tableOf } from '../../src/portfolio/csv-table.ts'
import type { Case } from './case.ts'

/** `folder`: that of csv-spectrum. Its objects are made of the first row's names. */
export function csvCases(folder: string): Case[] {
  const files = readdirSync(join(folder, 'csvs')).sort()
  return files.map((name) => {
    const wanted: unknown = JSON.parse(readFileSync(join(folder, 'json', name.replace(/\.csv$/, '.json')), 'utf8'))
    const table = tableOf(readFileSync(join(folder, 'csvs', name), 'utf8'))
    const [head, ...rest] = table.ok ? table.rows : []
    const found = rest.map(({ cells }) =>
      Object.fromEntries((head?.cells ?? []).map((column, at) => [column, cells[at] ?? ''])),
    )
    const [ours, theirs] = [JSON.stringify(found), JSON.stringify(wanted)]
    return { name, passed: ours === theirs, detail: `${ours}, not ${theirs}` }
  })
}

/** `folder`: the test data of the package unzip. The expected contents are beside each archive. */
export async function zipCases(folder: string): Promise<Case[]> {
  const cases: Case[] = []
  for (const name of readdirSync(folder).sort()) {
    const archive = new Uint8Array(readFileSync(join(folder, name, 'archive.zip')))
    const [ours, theirs] = [await unpacked(archive), filesBelow(join(folder, name, 'inflated'))]
    // Entries that only our result has count as differences, too.
    for (const path of new Set([...theirs.keys(), ...ours.keys()])) {
      const [found, wanted] = [ours.get(path), theirs.get(path)]
      cases.push({
        name: `${name} ${path}`,
        passed: found === wanted,
        detail: `${JSON.stringify(found)?.slice(0, 80)}`,
      })
    }
  }
  return cases
}

async function unpacked(archive: Uint8Array): Promise<Map<string, string>> {
  const directory = readZipDirectory(archive, 1_000)
  if (!directory.ok) return new Map([['', directory.reason]])
  const files = new Map<string, string>()
  let at = 0
  for await (const bytes of await unpackedEntries(directory.entries)) {
    const { name } = directory.entries[at] as (typeof directory.entries)[number]
    if (name !== null && !name.endsWith('/') && bytes !== null) files.set(name, new TextDecoder().decode(bytes))
    at += 1
  }
  return files
}

function filesBelow(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    paths.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}
