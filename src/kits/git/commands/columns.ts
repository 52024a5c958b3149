import type { Arguments } from '../arguments.ts'
import { fatal } from '../failure.ts'

/** Lists are never shown in columns here, so only options for no columns are accepted. */
export function refuseColumns(options: Arguments): void {
  if (!options.has('column')) return
  const style = options.value('column') ?? ''
  if (!/^(never|auto)\b/.test(style)) throw fatal(`--column${style === '' ? '' : `=${style}`} is not available here`)
}
