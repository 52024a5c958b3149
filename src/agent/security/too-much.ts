/** A script or a piece of code is given up, as it is too large, too deep or too costly to be judged. */
export class TooMuch extends Error {}
