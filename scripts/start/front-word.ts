/** Carries the word that the front and the Worker agreed on at this start. */
export const FRONT_HEADER = 'x-bellwether-front'

export type FrontEnv = { readonly FRONT_WORD: string }
