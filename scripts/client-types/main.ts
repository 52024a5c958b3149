// Generates the types of the client from the OpenAPI document of a service that is started for this.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../start/paths.ts'
import { startService } from '../start/service.ts'
import { type Document, typesOf } from './types-of.ts'

export const GENERATED = join(ROOT, 'client', 'src', 'api.generated.ts')

export async function writeClientTypes(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-types-'))
  const service = await startService({ stateDir })
  try {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
    writeFileSync(GENERATED, typesOf(document))
    process.stdout.write(`${GENERATED}\n`)
  } finally {
    await service.stop()
    rmSync(stateDir, { recursive: true })
  }
}
