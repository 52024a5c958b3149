let models: readonly string[] | undefined

/** The models that settings can name, as sorted `provider/model` ids. */
export async function listModels(): Promise<readonly string[]> {
  models ??= (await import('./lazy/catalogue.ts')).CATALOGUE
  return models
}
