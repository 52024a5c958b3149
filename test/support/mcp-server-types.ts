declare module 'vitest' {
  interface ProvidedContext {
    /** `http://127.0.0.1:<port>` */
    mcpServers: string
  }
}

export {}
