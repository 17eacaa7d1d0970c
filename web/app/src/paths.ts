/** The addresses of the app's pages. */
export type Inspect = { kind: 'members' } | { kind: 'runs' } | { kind: 'files' } | { kind: 'pins' } | { kind: 'settings' } | { kind: 'run'; id: string } | { kind: 'agent'; id: string } | { kind: 'thread'; id: string }

export type Place =
  | { page: 'home' }
  | { page: 'space'; spaceId: string; messageId: string | null }
  | { page: 'admin'; section: string; id: string | null }
  | { page: 'unknown' }

export function placeOf(path: string): Place {
  const [first, second, third, fourth] = path.split('/').filter(Boolean).map(decoded)
  if (first === 'spaces' && second) {
    return { page: 'space', spaceId: second, messageId: third === 'messages' && fourth ? fourth : null }
  }
  if (first === 'admin') return { page: 'admin', section: second ?? 'people', id: third ?? null }
  return first ? { page: 'unknown' } : { page: 'home' }
}

/** A malformed address stays as it is and leads to a space that does not exist. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const spacePath = (id: string): string => `/spaces/${id}`
export const messagePath = (spaceId: string, id: string): string => `/spaces/${spaceId}/messages/${id}`
