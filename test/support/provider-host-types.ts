declare module 'vitest' {
  interface ProvidedContext {
    /** Where the loopback APIs of git providers answer. */
    providerHost: string
  }
}

/** The tokens that the loopback providers accept. */
export const GOOD_TOKENS = {
  github: 'ghp_good0123456789',
  gitlab: 'glpat-good0123456789',
  bitbucket: 'bb-good0123456789',
  appPassword: 'ann:app-password-good',
} as const
