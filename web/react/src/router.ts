/** Takes the place of the app's router: messages of an embedded space are shown there, everything else opens in the
 * gateway's own app. */
import { placeOf, spacePath, messagePath, type Inspect, type Place } from '../../app/src/paths.ts'

export { spacePath, messagePath, placeOf, type Inspect, type Place }

interface Embedded {
  spaceId: string
  baseUrl: string
  show: (messageId: string | null) => void
}

const embedded = new Set<Embedded>()

/** Returns a function that ends it. */
export function embed(one: Embedded): () => void {
  embedded.add(one)
  return () => embedded.delete(one)
}

export const addressOf = (path: string): string => ([...embedded][0]?.baseUrl ?? '') + path

export function go(path: string): void {
  const place = placeOf(path)
  const here = place.page === 'space' && [...embedded].find((each) => each.spaceId === place.spaceId)
  if (here) return here.show(place.messageId)
  const [first] = embedded
  if (first) open(first.baseUrl + path, '_blank', 'noopener')
}

export function inspect(what: Inspect | null): void {
  const [first] = embedded
  if (!what || !first) return
  open(`${first.baseUrl}${spacePath(first.spaceId)}?inspect=${'id' in what ? what.id : what.kind}`, '_blank', 'noopener')
}

export const guardLeaving = (): (() => void) => () => {}
