// Fetches published packages into a folder, for the scripts that derive data from what they ship.

import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** Unpacks each `{ name: { version } }` and returns the folder to load them from. */
export function fetchPackages(folder, packages) {
  const modules = join(folder, 'node_modules')
  for (const [name, { version }] of Object.entries(packages)) {
    const target = join(modules, name)
    mkdirSync(target, { recursive: true })
    const packed = execFileSync('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder])
    const archive = join(folder, packed.toString().trim().split('\n').at(-1))
    execFileSync('tar', ['-xzf', archive, '-C', target, '--strip-components', '1'])
  }
  return modules
}
