/** One thing that a suite of somebody else's says, and whether it is so here. */
export type Case = { readonly name: string; readonly passed: boolean; readonly detail: string }
