declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  type Options = {
    url: string
    dom_id: string
    deepLinking: boolean
    validatorUrl: string | null
    tryItOutEnabled: boolean
    docExpansion: 'list' | 'full' | 'none'
    defaultModelsExpandDepth: number
  }
  const SwaggerUI: (options: Options) => unknown
  // biome-ignore lint/style/noDefaultExport: this is how the package exports it
  export default SwaggerUI
}
