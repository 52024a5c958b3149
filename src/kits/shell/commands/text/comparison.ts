/** Whether an operator holds for two values of which the first is less (below 0), the same (0) or more. `=` and `==` are the rest. */
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
