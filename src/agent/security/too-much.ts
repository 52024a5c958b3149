/** A script or a piece of code is too large, too deep or too costly to be judged. */
export class TooMuch extends Error {}
