import { useMe, useStore } from '@majlis/client/react'
import { useCallback } from 'react'

import { toast } from '../../ui/toast.tsx'
import { attach } from './attachments.ts'

/** Adds files to the draft of a space and starts to upload them. */
export function useAttach(spaceId: string): (files: readonly File[]) => void {
  const { client } = useStore()
  const me = useMe()?.id ?? ''
  return useCallback((files: readonly File[]) => {
    const problem = files.length > 0 ? attach(client, me, spaceId, files) : null
    if (problem) toast(problem)
  }, [client, me, spaceId])
}
