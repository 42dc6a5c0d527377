/** The methods of the marketplace's operations. */
export const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const
export type Method = (typeof methods)[number]
