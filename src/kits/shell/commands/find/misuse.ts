/** An expression that cannot be used, in the words of `find`. */
export class FindMisuse extends Error {}
