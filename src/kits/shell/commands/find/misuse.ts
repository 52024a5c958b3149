/** An invalid expression, with the message of `find`. */
export class FindMisuse extends Error {}
