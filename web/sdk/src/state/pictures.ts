/** The pictures of all members that the client has heard of, so that each avatar can show them. */
export type PicturesState = Readonly<Record<string, string>>

export interface Pictured {
  id: string
  /** Missing from an older server. */
  picture?: string | null
}

export function withPictures(known: PicturesState, entities: readonly Pictured[]): PicturesState {
  const changed = entities.filter(({ id, picture }) => (picture ?? null) !== (known[id] ?? null))
  if (changed.length === 0) return known
  const next: Record<string, string> = { ...known }
  for (const { id, picture } of changed) {
    if (picture) next[id] = picture
    else delete next[id]
  }
  return next
}
