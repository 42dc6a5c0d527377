/** Said where `source` and `id` of an event were received before with another body; both are names of all sellers. */
export const conflictMessage = ({ source, id }: { readonly source: string; readonly id: string }): string =>
  `${id} of ${source} has another body; give it another id, and each ERP a source of its own`
