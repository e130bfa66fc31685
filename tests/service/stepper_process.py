"""A client process that steps a session until it is killed: ADDRESS SESSION TOKEN NAME INPUT."""

import queue
import sys

import grpc

from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc

address, session_id, token, name, owned = sys.argv[1:]
requests: queue.Queue[pb.LockstepRequest] = queue.Queue()
replies = rpc.SessionServiceStub(grpc.insecure_channel(address)).Lockstep(iter(requests.get, None))
requests.put(pb.LockstepRequest(join=pb.Join(session_id=session_id, token=token, name=name, inputs=[owned])))
tick, number = next(replies).joined.tick, 0
while True:
    number += 1
    requests.put(pb.LockstepRequest(step=pb.Step(epoch=1, tick=tick, request=number, inputs=[1.0])))
    print(tick, flush=True)
    tick = next(replies).state.tick
