import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const ELSEWHERE = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

type Environment = Readonly<Record<string, string | undefined>>

/** The Chromium of this machine, or null. CHROMIUM_PATH decides when it is set. */
export function findChromium(env: Environment = process.env): string | null {
  const chosen = env.CHROMIUM_PATH
  if (chosen !== undefined && chosen !== '') return isExecutable(chosen) ? chosen : null
  const onPath = (env.PATH ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return [...onPath, ...ELSEWHERE].find(isExecutable) ?? null
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // Not there or not for us: both mean "look further".
    return false
  }
}
