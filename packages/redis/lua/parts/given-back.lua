-- What finishing does to a held key: packages/core/src/transitions/finish.ts.
local IDLE_NOW, READY_NOW, DELAYED_NOW, PARKED_NOW, LOST = 0, 1, 2, 3, 4

local function resting(state)
  if state.parked then return PARKED_NOW end
  if state.due == inf then return IDLE_NOW end
  return state.due <= now and READY_NOW or DELAYED_NOW
end

local function free(state, number)
  state.token = 0
  state.lease = inf
  state.claimedTrace = nil
  if state.due <= now then
    state.ready = now
    state.seq = number
  end
  return resting(state)
end
