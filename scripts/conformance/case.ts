/** One case of another project's suite, and whether it passes here. */
export type Case = { readonly name: string; readonly passed: boolean; readonly detail: string }
