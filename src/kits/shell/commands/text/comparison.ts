/** Whether an operator is true for two values, given their comparison: below 0, 0, or above 0. `=` and `==` are the rest. */
export function holds(operator: string, compared: number): boolean {
  switch (operator) {
    case '<':
      return compared < 0
    case '<=':
      return compared <= 0
    case '>':
      return compared > 0
    case '>=':
      return compared >= 0
    case '!=':
      return compared !== 0
    default:
      return compared === 0
  }
}
