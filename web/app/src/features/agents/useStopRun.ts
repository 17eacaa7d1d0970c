import { MajlisError } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { useMayWrite } from '../spaces/useMayWrite.ts'

/** Cancels runs. Viewers of the space cannot, unless they administer the gateway. */
export function useStopRun(runIds: readonly string[], spaceId: string | null) {
  const store = useStore()
  const administers = useMe()?.role !== 'member'
  const mayStop = useMayWrite(spaceId ?? '') || administers
  const [stopping, setStopping] = useState(false)
  const [problem, setProblem] = useState('')
  const stop = () => {
    setStopping(true)
    setProblem('')
    for (const runId of runIds) {
      store.client.runs.cancel(runId).catch((error: Error) => {
        setStopping(false)
        // 409: the run has already ended.
        if (!(error instanceof MajlisError && error.status === 409)) setProblem(error.message)
      })
    }
  }
  return { mayStop, stopping, problem, stop }
}
