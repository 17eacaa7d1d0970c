import type { SpaceState } from '@majlis/client'
import { useState } from 'react'

import { usePageFocus } from '../../ui/usePageFocus.ts'

/** Behind which number the line "New" stands. It stays where it was when one came in, until one leaves: to another space, or
 * to another window, if something is said meanwhile. */
export function useNewMarker({ seenSeq, headSeq }: SpaceState): number | null {
  const present = usePageFocus()
  const missing = !present && seenSeq < headSeq
  const [newAfter, setNewAfter] = useState(seenSeq < headSeq ? seenSeq : null)
  const [wasMissing, setWasMissing] = useState(missing)
  if (missing !== wasMissing) {
    setWasMissing(missing)
    if (missing) setNewAfter(seenSeq)
  }
  return newAfter
}
