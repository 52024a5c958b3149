import type { OutputRoutes } from './output-routes.ts'
import type { Script } from './shape.ts'

/** A command that waits for the end of the shell, with its input. */
export type OutputProcess = {
  body: Script
  routes: OutputRoutes
  options: Record<string, boolean>
  pieces: string[]
}
