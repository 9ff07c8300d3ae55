/** What an agent is scored in, in the order in which it is shown. */
export const DIMENSIONS = ["accuracy", "speed", "efficiency", "cost", "reliability"] as const;
