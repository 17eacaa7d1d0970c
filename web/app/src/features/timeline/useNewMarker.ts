import type { SpaceState } from '@majlis/client'
import { useState } from 'react'

import { usePageFocus } from '../../ui/usePageFocus.ts'

/**
 * The number of the message above the "New" line. The line stays in place until the user opens another space, or
 * leaves the window while messages arrive.
 */
export function useNewMarker({ seenSeq, headSeq }: SpaceState): number | null {
  const focused = usePageFocus()
  const missing = !focused && seenSeq < headSeq
  const [newAfter, setNewAfter] = useState(seenSeq < headSeq ? seenSeq : null)
  const [wasMissing, setWasMissing] = useState(missing)
  if (missing !== wasMissing) {
    setWasMissing(missing)
    if (missing) setNewAfter(seenSeq)
  }
  return newAfter
}
