/** The limits of a program host. */
export type Limits = {
  /** Programs that run at a time; the others wait. */
  readonly concurrency: number
  /** Processes that are started in advance for the next programs. */
  readonly spares: number
  /** Of the process of one program, in MiB, runtime included. */
  readonly memoryMb: number
  /** Of everything that the process of one program prints, in MB. */
  readonly printedMb: number
}

export const DEFAULT_LIMITS: Limits = { concurrency: 4, spares: 2, memoryMb: 512, printedMb: 32 }
