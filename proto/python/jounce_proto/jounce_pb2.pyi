from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Causality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CAUSALITY_UNSPECIFIED: _ClassVar[Causality]
    CAUSALITY_INPUT: _ClassVar[Causality]
    CAUSALITY_OUTPUT: _ClassVar[Causality]
    CAUSALITY_PARAMETER: _ClassVar[Causality]

class SignalType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIGNAL_TYPE_UNSPECIFIED: _ClassVar[SignalType]
    SIGNAL_TYPE_REAL: _ClassVar[SignalType]
    SIGNAL_TYPE_INTEGER: _ClassVar[SignalType]
    SIGNAL_TYPE_BOOLEAN: _ClassVar[SignalType]
    SIGNAL_TYPE_ENUMERATION: _ClassVar[SignalType]

class Variability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VARIABILITY_UNSPECIFIED: _ClassVar[Variability]
    VARIABILITY_CONTINUOUS: _ClassVar[Variability]
    VARIABILITY_DISCRETE: _ClassVar[Variability]
    VARIABILITY_FIXED: _ClassVar[Variability]
    VARIABILITY_TUNABLE: _ClassVar[Variability]

class PacingMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PACING_MODE_UNSPECIFIED: _ClassVar[PacingMode]
    PACING_MODE_FREE: _ClassVar[PacingMode]
    PACING_MODE_REALTIME: _ClassVar[PacingMode]

class OverrunPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVERRUN_POLICY_UNSPECIFIED: _ClassVar[OverrunPolicy]
    OVERRUN_POLICY_COUNT: _ClassVar[OverrunPolicy]
    OVERRUN_POLICY_SLIP: _ClassVar[OverrunPolicy]
    OVERRUN_POLICY_FAIL: _ClassVar[OverrunPolicy]

class SessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATE_UNSPECIFIED: _ClassVar[SessionState]
    SESSION_STATE_CREATED: _ClassVar[SessionState]
    SESSION_STATE_RUNNING: _ClassVar[SessionState]
    SESSION_STATE_PAUSED: _ClassVar[SessionState]
    SESSION_STATE_FAILED: _ClassVar[SessionState]
    SESSION_STATE_CLOSED: _ClassVar[SessionState]

class LatePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LATE_POLICY_UNSPECIFIED: _ClassVar[LatePolicy]
    LATE_POLICY_BLOCK: _ClassVar[LatePolicy]
    LATE_POLICY_HOLD_LAST: _ClassVar[LatePolicy]
    LATE_POLICY_SAFE_VALUE: _ClassVar[LatePolicy]
    LATE_POLICY_FAIL: _ClassVar[LatePolicy]

class EventKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_KIND_UNSPECIFIED: _ClassVar[EventKind]
    EVENT_KIND_PAUSED: _ClassVar[EventKind]
    EVENT_KIND_RESUMED: _ClassVar[EventKind]
    EVENT_KIND_RESET: _ClassVar[EventKind]
    EVENT_KIND_RESTORED: _ClassVar[EventKind]
    EVENT_KIND_STARTED: _ClassVar[EventKind]
    EVENT_KIND_FAILED: _ClassVar[EventKind]
    EVENT_KIND_CLOSED: _ClassVar[EventKind]
    EVENT_KIND_DRAINING: _ClassVar[EventKind]
    EVENT_KIND_RECORDING_ENDED: _ClassVar[EventKind]
    EVENT_KIND_EVICTED: _ClassVar[EventKind]
    EVENT_KIND_MISSED: _ClassVar[EventKind]
    EVENT_KIND_BARRIER_TIMEOUT: _ClassVar[EventKind]
CAUSALITY_UNSPECIFIED: Causality
CAUSALITY_INPUT: Causality
CAUSALITY_OUTPUT: Causality
CAUSALITY_PARAMETER: Causality
SIGNAL_TYPE_UNSPECIFIED: SignalType
SIGNAL_TYPE_REAL: SignalType
SIGNAL_TYPE_INTEGER: SignalType
SIGNAL_TYPE_BOOLEAN: SignalType
SIGNAL_TYPE_ENUMERATION: SignalType
VARIABILITY_UNSPECIFIED: Variability
VARIABILITY_CONTINUOUS: Variability
VARIABILITY_DISCRETE: Variability
VARIABILITY_FIXED: Variability
VARIABILITY_TUNABLE: Variability
PACING_MODE_UNSPECIFIED: PacingMode
PACING_MODE_FREE: PacingMode
PACING_MODE_REALTIME: PacingMode
OVERRUN_POLICY_UNSPECIFIED: OverrunPolicy
OVERRUN_POLICY_COUNT: OverrunPolicy
OVERRUN_POLICY_SLIP: OverrunPolicy
OVERRUN_POLICY_FAIL: OverrunPolicy
SESSION_STATE_UNSPECIFIED: SessionState
SESSION_STATE_CREATED: SessionState
SESSION_STATE_RUNNING: SessionState
SESSION_STATE_PAUSED: SessionState
SESSION_STATE_FAILED: SessionState
SESSION_STATE_CLOSED: SessionState
LATE_POLICY_UNSPECIFIED: LatePolicy
LATE_POLICY_BLOCK: LatePolicy
LATE_POLICY_HOLD_LAST: LatePolicy
LATE_POLICY_SAFE_VALUE: LatePolicy
LATE_POLICY_FAIL: LatePolicy
EVENT_KIND_UNSPECIFIED: EventKind
EVENT_KIND_PAUSED: EventKind
EVENT_KIND_RESUMED: EventKind
EVENT_KIND_RESET: EventKind
EVENT_KIND_RESTORED: EventKind
EVENT_KIND_STARTED: EventKind
EVENT_KIND_FAILED: EventKind
EVENT_KIND_CLOSED: EventKind
EVENT_KIND_DRAINING: EventKind
EVENT_KIND_RECORDING_ENDED: EventKind
EVENT_KIND_EVICTED: EventKind
EVENT_KIND_MISSED: EventKind
EVENT_KIND_BARRIER_TIMEOUT: EventKind

class ErrorInfo(_message.Message):
    __slots__ = ("reason", "field", "given", "allowed", "message", "code", "missing", "expected_tick", "expected_epoch")
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    GIVEN_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_TICK_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_EPOCH_FIELD_NUMBER: _ClassVar[int]
    reason: str
    field: str
    given: str
    allowed: str
    message: str
    code: int
    missing: _containers.RepeatedScalarFieldContainer[str]
    expected_tick: int
    expected_epoch: int
    def __init__(self, reason: _Optional[str] = ..., field: _Optional[str] = ..., given: _Optional[str] = ..., allowed: _Optional[str] = ..., message: _Optional[str] = ..., code: _Optional[int] = ..., missing: _Optional[_Iterable[str]] = ..., expected_tick: _Optional[int] = ..., expected_epoch: _Optional[int] = ...) -> None: ...

class GetServerRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServerResponse(_message.Message):
    __slots__ = ("server_version", "api", "uptime_seconds", "draining", "administrator", "records", "sessions", "fast_addresses", "stalls", "stalled_seconds", "limits")
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    API_FIELD_NUMBER: _ClassVar[int]
    UPTIME_SECONDS_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    ADMINISTRATOR_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    FAST_ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    STALLS_FIELD_NUMBER: _ClassVar[int]
    STALLED_SECONDS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    server_version: str
    api: str
    uptime_seconds: float
    draining: bool
    administrator: bool
    records: bool
    sessions: int
    fast_addresses: _containers.RepeatedScalarFieldContainer[str]
    stalls: int
    stalled_seconds: float
    limits: _containers.ScalarMap[str, float]
    def __init__(self, server_version: _Optional[str] = ..., api: _Optional[str] = ..., uptime_seconds: _Optional[float] = ..., draining: _Optional[bool] = ..., administrator: _Optional[bool] = ..., records: _Optional[bool] = ..., sessions: _Optional[int] = ..., fast_addresses: _Optional[_Iterable[str]] = ..., stalls: _Optional[int] = ..., stalled_seconds: _Optional[float] = ..., limits: _Optional[_Mapping[str, float]] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[ModelSummary]
    def __init__(self, models: _Optional[_Iterable[_Union[ModelSummary, _Mapping[str, object]]]] = ...) -> None: ...

class ModelSummary(_message.Message):
    __slots__ = ("name", "input_count", "output_count", "parameter_count", "unavailable")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    input_count: int
    output_count: int
    parameter_count: int
    unavailable: str
    def __init__(self, name: _Optional[str] = ..., input_count: _Optional[int] = ..., output_count: _Optional[int] = ..., parameter_count: _Optional[int] = ..., unavailable: _Optional[str] = ...) -> None: ...

class DescribeModelRequest(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class DescribeModelResponse(_message.Message):
    __slots__ = ("model", "signals", "server_version", "tick_seconds")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SIGNALS_FIELD_NUMBER: _ClassVar[int]
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    model: str
    signals: _containers.RepeatedCompositeFieldContainer[Signal]
    server_version: str
    tick_seconds: float
    def __init__(self, model: _Optional[str] = ..., signals: _Optional[_Iterable[_Union[Signal, _Mapping[str, object]]]] = ..., server_version: _Optional[str] = ..., tick_seconds: _Optional[float] = ...) -> None: ...

class Signal(_message.Message):
    __slots__ = ("name", "causality", "type", "unit", "frame", "shape", "components", "first_index", "first_value_reference", "start", "minimum", "maximum", "nominal", "variability", "items", "description")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CAUSALITY_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    FIRST_INDEX_FIELD_NUMBER: _ClassVar[int]
    FIRST_VALUE_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    NOMINAL_FIELD_NUMBER: _ClassVar[int]
    VARIABILITY_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    name: str
    causality: Causality
    type: SignalType
    unit: str
    frame: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    components: _containers.RepeatedScalarFieldContainer[str]
    first_index: int
    first_value_reference: int
    start: _containers.RepeatedScalarFieldContainer[float]
    minimum: float
    maximum: float
    nominal: float
    variability: Variability
    items: _containers.RepeatedScalarFieldContainer[str]
    description: str
    def __init__(self, name: _Optional[str] = ..., causality: _Optional[_Union[Causality, str]] = ..., type: _Optional[_Union[SignalType, str]] = ..., unit: _Optional[str] = ..., frame: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., components: _Optional[_Iterable[str]] = ..., first_index: _Optional[int] = ..., first_value_reference: _Optional[int] = ..., start: _Optional[_Iterable[float]] = ..., minimum: _Optional[float] = ..., maximum: _Optional[float] = ..., nominal: _Optional[float] = ..., variability: _Optional[_Union[Variability, str]] = ..., items: _Optional[_Iterable[str]] = ..., description: _Optional[str] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("number", "text")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    number: float
    text: str
    def __init__(self, number: _Optional[float] = ..., text: _Optional[str] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("model", "parameters", "start_inputs", "expected_participants", "pacing", "controllers", "recording")
    class ParametersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping[str, object]]] = ...) -> None: ...
    class StartInputsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    START_INPUTS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    PACING_FIELD_NUMBER: _ClassVar[int]
    CONTROLLERS_FIELD_NUMBER: _ClassVar[int]
    RECORDING_FIELD_NUMBER: _ClassVar[int]
    model: str
    parameters: _containers.MessageMap[str, Value]
    start_inputs: _containers.ScalarMap[str, float]
    expected_participants: _containers.RepeatedScalarFieldContainer[str]
    pacing: Pacing
    controllers: _containers.RepeatedScalarFieldContainer[str]
    recording: Recording
    def __init__(self, model: _Optional[str] = ..., parameters: _Optional[_Mapping[str, Value]] = ..., start_inputs: _Optional[_Mapping[str, float]] = ..., expected_participants: _Optional[_Iterable[str]] = ..., pacing: _Optional[_Union[Pacing, _Mapping[str, object]]] = ..., controllers: _Optional[_Iterable[str]] = ..., recording: _Optional[_Union[Recording, _Mapping[str, object]]] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session_id", "token", "join_token", "epoch", "tick", "tick_seconds")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    JOIN_TOKEN_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    join_token: str
    epoch: int
    tick: int
    tick_seconds: float
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., join_token: _Optional[str] = ..., epoch: _Optional[int] = ..., tick: _Optional[int] = ..., tick_seconds: _Optional[float] = ...) -> None: ...

class Pacing(_message.Message):
    __slots__ = ("mode", "factor", "overrun")
    MODE_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    OVERRUN_FIELD_NUMBER: _ClassVar[int]
    mode: PacingMode
    factor: float
    overrun: OverrunPolicy
    def __init__(self, mode: _Optional[_Union[PacingMode, str]] = ..., factor: _Optional[float] = ..., overrun: _Optional[_Union[OverrunPolicy, str]] = ...) -> None: ...

class PacingStatus(_message.Message):
    __slots__ = ("overruns", "worst_overrun", "late_releases", "behind")
    OVERRUNS_FIELD_NUMBER: _ClassVar[int]
    WORST_OVERRUN_FIELD_NUMBER: _ClassVar[int]
    LATE_RELEASES_FIELD_NUMBER: _ClassVar[int]
    BEHIND_FIELD_NUMBER: _ClassVar[int]
    overruns: int
    worst_overrun: float
    late_releases: int
    behind: float
    def __init__(self, overruns: _Optional[int] = ..., worst_overrun: _Optional[float] = ..., late_releases: _Optional[int] = ..., behind: _Optional[float] = ...) -> None: ...

class Recording(_message.Message):
    __slots__ = ("every_ticks", "fail_session")
    EVERY_TICKS_FIELD_NUMBER: _ClassVar[int]
    FAIL_SESSION_FIELD_NUMBER: _ClassVar[int]
    every_ticks: int
    fail_session: bool
    def __init__(self, every_ticks: _Optional[int] = ..., fail_session: _Optional[bool] = ...) -> None: ...

class RecordingStatus(_message.Message):
    __slots__ = ("name", "size", "failure")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    name: str
    size: int
    failure: str
    def __init__(self, name: _Optional[str] = ..., size: _Optional[int] = ..., failure: _Optional[str] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("session_id", "token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class ParticipantStatus(_message.Message):
    __slots__ = ("name", "joined", "expected", "due_tick", "missing", "period_ticks", "inputs", "late", "missed")
    NAME_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    DUE_TICK_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    PERIOD_TICKS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    name: str
    joined: bool
    expected: bool
    due_tick: int
    missing: bool
    period_ticks: int
    inputs: _containers.RepeatedScalarFieldContainer[str]
    late: LatePolicy
    missed: int
    def __init__(self, name: _Optional[str] = ..., joined: _Optional[bool] = ..., expected: _Optional[bool] = ..., due_tick: _Optional[int] = ..., missing: _Optional[bool] = ..., period_ticks: _Optional[int] = ..., inputs: _Optional[_Iterable[str]] = ..., late: _Optional[_Union[LatePolicy, str]] = ..., missed: _Optional[int] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session_id", "model", "state", "epoch", "tick", "sim_ns", "tick_seconds", "participants", "failure", "failure_reason", "pacing", "frames_dropped", "evictions", "stalls", "stalled_seconds", "recording")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    PACING_FIELD_NUMBER: _ClassVar[int]
    FRAMES_DROPPED_FIELD_NUMBER: _ClassVar[int]
    EVICTIONS_FIELD_NUMBER: _ClassVar[int]
    STALLS_FIELD_NUMBER: _ClassVar[int]
    STALLED_SECONDS_FIELD_NUMBER: _ClassVar[int]
    RECORDING_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    model: str
    state: SessionState
    epoch: int
    tick: int
    sim_ns: int
    tick_seconds: float
    participants: _containers.RepeatedCompositeFieldContainer[ParticipantStatus]
    failure: str
    failure_reason: str
    pacing: PacingStatus
    frames_dropped: int
    evictions: int
    stalls: int
    stalled_seconds: float
    recording: RecordingStatus
    def __init__(self, session_id: _Optional[str] = ..., model: _Optional[str] = ..., state: _Optional[_Union[SessionState, str]] = ..., epoch: _Optional[int] = ..., tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., tick_seconds: _Optional[float] = ..., participants: _Optional[_Iterable[_Union[ParticipantStatus, _Mapping[str, object]]]] = ..., failure: _Optional[str] = ..., failure_reason: _Optional[str] = ..., pacing: _Optional[_Union[PacingStatus, _Mapping[str, object]]] = ..., frames_dropped: _Optional[int] = ..., evictions: _Optional[int] = ..., stalls: _Optional[int] = ..., stalled_seconds: _Optional[float] = ..., recording: _Optional[_Union[RecordingStatus, _Mapping[str, object]]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions",)
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[SessionSummary]
    def __init__(self, sessions: _Optional[_Iterable[_Union[SessionSummary, _Mapping[str, object]]]] = ...) -> None: ...

class SessionSummary(_message.Message):
    __slots__ = ("session_id", "model", "state", "tick", "participants", "connected", "created_unix_ns", "idle_seconds", "own", "failure")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_FIELD_NUMBER: _ClassVar[int]
    CREATED_UNIX_NS_FIELD_NUMBER: _ClassVar[int]
    IDLE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    OWN_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    model: str
    state: SessionState
    tick: int
    participants: _containers.RepeatedScalarFieldContainer[str]
    connected: int
    created_unix_ns: int
    idle_seconds: float
    own: bool
    failure: str
    def __init__(self, session_id: _Optional[str] = ..., model: _Optional[str] = ..., state: _Optional[_Union[SessionState, str]] = ..., tick: _Optional[int] = ..., participants: _Optional[_Iterable[str]] = ..., connected: _Optional[int] = ..., created_unix_ns: _Optional[int] = ..., idle_seconds: _Optional[float] = ..., own: _Optional[bool] = ..., failure: _Optional[str] = ...) -> None: ...

class EvictParticipantRequest(_message.Message):
    __slots__ = ("session_id", "token", "name", "release")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    name: str
    release: bool
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., name: _Optional[str] = ..., release: _Optional[bool] = ...) -> None: ...

class EvictParticipantResponse(_message.Message):
    __slots__ = ("tick",)
    TICK_FIELD_NUMBER: _ClassVar[int]
    tick: int
    def __init__(self, tick: _Optional[int] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("session_id", "token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AdvanceRequest(_message.Message):
    __slots__ = ("session_id", "token", "epoch", "tick", "n_ticks", "request", "input_names", "inputs", "output_names")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    N_TICKS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    INPUT_NAMES_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_NAMES_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    epoch: int
    tick: int
    n_ticks: int
    request: int
    input_names: _containers.RepeatedScalarFieldContainer[str]
    inputs: _containers.RepeatedScalarFieldContainer[float]
    output_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., epoch: _Optional[int] = ..., tick: _Optional[int] = ..., n_ticks: _Optional[int] = ..., request: _Optional[int] = ..., input_names: _Optional[_Iterable[str]] = ..., inputs: _Optional[_Iterable[float]] = ..., output_names: _Optional[_Iterable[str]] = ...) -> None: ...

class AdvanceResponse(_message.Message):
    __slots__ = ("epoch", "tick", "sim_ns", "outputs")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    sim_ns: int
    outputs: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., outputs: _Optional[_Iterable[float]] = ...) -> None: ...

class LockstepRequest(_message.Message):
    __slots__ = ("step", "join", "leave", "sync")
    STEP_FIELD_NUMBER: _ClassVar[int]
    JOIN_FIELD_NUMBER: _ClassVar[int]
    LEAVE_FIELD_NUMBER: _ClassVar[int]
    SYNC_FIELD_NUMBER: _ClassVar[int]
    step: Step
    join: Join
    leave: Leave
    sync: Sync
    def __init__(self, step: _Optional[_Union[Step, _Mapping[str, object]]] = ..., join: _Optional[_Union[Join, _Mapping[str, object]]] = ..., leave: _Optional[_Union[Leave, _Mapping[str, object]]] = ..., sync: _Optional[_Union[Sync, _Mapping[str, object]]] = ...) -> None: ...

class LockstepReply(_message.Message):
    __slots__ = ("state", "joined", "left", "error", "event")
    STATE_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    state: State
    joined: Joined
    left: Left
    error: ErrorInfo
    event: Event
    def __init__(self, state: _Optional[_Union[State, _Mapping[str, object]]] = ..., joined: _Optional[_Union[Joined, _Mapping[str, object]]] = ..., left: _Optional[_Union[Left, _Mapping[str, object]]] = ..., error: _Optional[_Union[ErrorInfo, _Mapping[str, object]]] = ..., event: _Optional[_Union[Event, _Mapping[str, object]]] = ...) -> None: ...

class Join(_message.Message):
    __slots__ = ("session_id", "token", "name", "inputs", "outputs", "period_ticks", "phase_ticks", "barrier_timeout", "late", "late_after", "max_age_ticks", "safe_values", "first_order_inputs", "lease", "participant_token", "take_over", "notices")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    PERIOD_TICKS_FIELD_NUMBER: _ClassVar[int]
    PHASE_TICKS_FIELD_NUMBER: _ClassVar[int]
    BARRIER_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    LATE_AFTER_FIELD_NUMBER: _ClassVar[int]
    MAX_AGE_TICKS_FIELD_NUMBER: _ClassVar[int]
    SAFE_VALUES_FIELD_NUMBER: _ClassVar[int]
    FIRST_ORDER_INPUTS_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TAKE_OVER_FIELD_NUMBER: _ClassVar[int]
    NOTICES_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    name: str
    inputs: _containers.RepeatedScalarFieldContainer[str]
    outputs: _containers.RepeatedScalarFieldContainer[str]
    period_ticks: int
    phase_ticks: int
    barrier_timeout: float
    late: LatePolicy
    late_after: float
    max_age_ticks: int
    safe_values: _containers.RepeatedScalarFieldContainer[float]
    first_order_inputs: _containers.RepeatedScalarFieldContainer[str]
    lease: float
    participant_token: str
    take_over: bool
    notices: _containers.RepeatedScalarFieldContainer[EventKind]
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., name: _Optional[str] = ..., inputs: _Optional[_Iterable[str]] = ..., outputs: _Optional[_Iterable[str]] = ..., period_ticks: _Optional[int] = ..., phase_ticks: _Optional[int] = ..., barrier_timeout: _Optional[float] = ..., late: _Optional[_Union[LatePolicy, str]] = ..., late_after: _Optional[float] = ..., max_age_ticks: _Optional[int] = ..., safe_values: _Optional[_Iterable[float]] = ..., first_order_inputs: _Optional[_Iterable[str]] = ..., lease: _Optional[float] = ..., participant_token: _Optional[str] = ..., take_over: _Optional[bool] = ..., notices: _Optional[_Iterable[_Union[EventKind, str]]] = ...) -> None: ...

class Joined(_message.Message):
    __slots__ = ("epoch", "tick", "clock_tick", "sim_ns", "tick_seconds", "inputs", "outputs", "input_values", "output_values", "participant_token", "request")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    CLOCK_TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    INPUT_VALUES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_VALUES_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    clock_tick: int
    sim_ns: int
    tick_seconds: float
    inputs: _containers.RepeatedScalarFieldContainer[str]
    outputs: _containers.RepeatedScalarFieldContainer[str]
    input_values: _containers.RepeatedScalarFieldContainer[float]
    output_values: _containers.RepeatedScalarFieldContainer[float]
    participant_token: str
    request: int
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., clock_tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., tick_seconds: _Optional[float] = ..., inputs: _Optional[_Iterable[str]] = ..., outputs: _Optional[_Iterable[str]] = ..., input_values: _Optional[_Iterable[float]] = ..., output_values: _Optional[_Iterable[float]] = ..., participant_token: _Optional[str] = ..., request: _Optional[int] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("epoch", "tick", "request", "inputs", "next_tick")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_TICK_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    request: int
    inputs: _containers.RepeatedScalarFieldContainer[float]
    next_tick: int
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., request: _Optional[int] = ..., inputs: _Optional[_Iterable[float]] = ..., next_tick: _Optional[int] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("epoch", "tick", "sim_ns", "outputs", "request", "overruns", "missed", "held")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    OVERRUNS_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    sim_ns: int
    outputs: _containers.RepeatedScalarFieldContainer[float]
    request: int
    overruns: int
    missed: int
    held: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., outputs: _Optional[_Iterable[float]] = ..., request: _Optional[int] = ..., overruns: _Optional[int] = ..., missed: _Optional[int] = ..., held: _Optional[_Iterable[str]] = ...) -> None: ...

class Sync(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Event(_message.Message):
    __slots__ = ("kind", "epoch", "tick", "due_tick", "sim_ns", "outputs", "inputs", "text", "participants")
    KIND_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    DUE_TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    kind: EventKind
    epoch: int
    tick: int
    due_tick: int
    sim_ns: int
    outputs: _containers.RepeatedScalarFieldContainer[float]
    inputs: _containers.RepeatedScalarFieldContainer[float]
    text: str
    participants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, kind: _Optional[_Union[EventKind, str]] = ..., epoch: _Optional[int] = ..., tick: _Optional[int] = ..., due_tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., outputs: _Optional[_Iterable[float]] = ..., inputs: _Optional[_Iterable[float]] = ..., text: _Optional[str] = ..., participants: _Optional[_Iterable[str]] = ...) -> None: ...

class Leave(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Left(_message.Message):
    __slots__ = ("tick",)
    TICK_FIELD_NUMBER: _ClassVar[int]
    tick: int
    def __init__(self, tick: _Optional[int] = ...) -> None: ...

class PauseSessionRequest(_message.Message):
    __slots__ = ("session_id", "token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class PauseSessionResponse(_message.Message):
    __slots__ = ("epoch", "tick")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ...) -> None: ...

class ResumeSessionRequest(_message.Message):
    __slots__ = ("session_id", "token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class ResumeSessionResponse(_message.Message):
    __slots__ = ("epoch", "tick")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ...) -> None: ...

class ResetSessionRequest(_message.Message):
    __slots__ = ("session_id", "token", "parameters", "start_inputs")
    class ParametersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping[str, object]]] = ...) -> None: ...
    class StartInputsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    START_INPUTS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    parameters: _containers.MessageMap[str, Value]
    start_inputs: _containers.ScalarMap[str, float]
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., parameters: _Optional[_Mapping[str, Value]] = ..., start_inputs: _Optional[_Mapping[str, float]] = ...) -> None: ...

class ResetSessionResponse(_message.Message):
    __slots__ = ("epoch", "tick")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ...) -> None: ...

class SaveSnapshotRequest(_message.Message):
    __slots__ = ("session_id", "token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class SaveSnapshotResponse(_message.Message):
    __slots__ = ("snapshot_id", "tick", "size", "sha256")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    tick: int
    size: int
    sha256: bytes
    def __init__(self, snapshot_id: _Optional[str] = ..., tick: _Optional[int] = ..., size: _Optional[int] = ..., sha256: _Optional[bytes] = ...) -> None: ...

class RestoreSnapshotRequest(_message.Message):
    __slots__ = ("session_id", "token", "snapshot_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    snapshot_id: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., snapshot_id: _Optional[str] = ...) -> None: ...

class RestoreSnapshotResponse(_message.Message):
    __slots__ = ("epoch", "tick")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ...) -> None: ...

class DeleteSnapshotRequest(_message.Message):
    __slots__ = ("session_id", "token", "snapshot_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    snapshot_id: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., snapshot_id: _Optional[str] = ...) -> None: ...

class DeleteSnapshotResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DownloadSnapshotRequest(_message.Message):
    __slots__ = ("session_id", "token", "snapshot_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    snapshot_id: str
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., snapshot_id: _Optional[str] = ...) -> None: ...

class DownloadSnapshotResponse(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class UploadSnapshotRequest(_message.Message):
    __slots__ = ("session_id", "token", "size", "sha256", "data")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    size: int
    sha256: bytes
    data: bytes
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., size: _Optional[int] = ..., sha256: _Optional[bytes] = ..., data: _Optional[bytes] = ...) -> None: ...

class UploadSnapshotResponse(_message.Message):
    __slots__ = ("snapshot_id", "tick")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    tick: int
    def __init__(self, snapshot_id: _Optional[str] = ..., tick: _Optional[int] = ...) -> None: ...

class ForkSessionRequest(_message.Message):
    __slots__ = ("session_id", "token", "snapshot_id", "expected_participants", "pacing")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    PACING_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    token: str
    snapshot_id: str
    expected_participants: _containers.RepeatedScalarFieldContainer[str]
    pacing: Pacing
    def __init__(self, session_id: _Optional[str] = ..., token: _Optional[str] = ..., snapshot_id: _Optional[str] = ..., expected_participants: _Optional[_Iterable[str]] = ..., pacing: _Optional[_Union[Pacing, _Mapping[str, object]]] = ...) -> None: ...

class Snapshot(_message.Message):
    __slots__ = ("model", "build", "tick_seconds", "tick", "parameters", "start_inputs", "inputs", "state", "ramps", "holds")
    class ParametersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    MODEL_FIELD_NUMBER: _ClassVar[int]
    BUILD_FIELD_NUMBER: _ClassVar[int]
    TICK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    START_INPUTS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RAMPS_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    model: str
    build: str
    tick_seconds: float
    tick: int
    parameters: _containers.ScalarMap[str, float]
    start_inputs: _containers.RepeatedScalarFieldContainer[float]
    inputs: _containers.RepeatedScalarFieldContainer[float]
    state: bytes
    ramps: _containers.RepeatedCompositeFieldContainer[Ramp]
    holds: _containers.RepeatedCompositeFieldContainer[Hold]
    def __init__(self, model: _Optional[str] = ..., build: _Optional[str] = ..., tick_seconds: _Optional[float] = ..., tick: _Optional[int] = ..., parameters: _Optional[_Mapping[str, float]] = ..., start_inputs: _Optional[_Iterable[float]] = ..., inputs: _Optional[_Iterable[float]] = ..., state: _Optional[bytes] = ..., ramps: _Optional[_Iterable[_Union[Ramp, _Mapping[str, object]]]] = ..., holds: _Optional[_Iterable[_Union[Hold, _Mapping[str, object]]]] = ...) -> None: ...

class Ramp(_message.Message):
    __slots__ = ("input", "tick", "value", "slope")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SLOPE_FIELD_NUMBER: _ClassVar[int]
    input: int
    tick: int
    value: float
    slope: float
    def __init__(self, input: _Optional[int] = ..., tick: _Optional[int] = ..., value: _Optional[float] = ..., slope: _Optional[float] = ...) -> None: ...

class Hold(_message.Message):
    __slots__ = ("participant", "delivered_tick", "missed", "due_tick")
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_TICK_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    DUE_TICK_FIELD_NUMBER: _ClassVar[int]
    participant: str
    delivered_tick: int
    missed: int
    due_tick: int
    def __init__(self, participant: _Optional[str] = ..., delivered_tick: _Optional[int] = ..., missed: _Optional[int] = ..., due_tick: _Optional[int] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("session_id", "outputs", "every_ticks", "token", "present")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    EVERY_TICKS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    outputs: _containers.RepeatedScalarFieldContainer[str]
    every_ticks: int
    token: str
    present: bool
    def __init__(self, session_id: _Optional[str] = ..., outputs: _Optional[_Iterable[str]] = ..., every_ticks: _Optional[int] = ..., token: _Optional[str] = ..., present: _Optional[bool] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("epoch", "tick", "sim_ns", "outputs", "dropped")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    SIM_NS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    tick: int
    sim_ns: int
    outputs: _containers.RepeatedScalarFieldContainer[float]
    dropped: int
    def __init__(self, epoch: _Optional[int] = ..., tick: _Optional[int] = ..., sim_ns: _Optional[int] = ..., outputs: _Optional[_Iterable[float]] = ..., dropped: _Optional[int] = ...) -> None: ...

class RecordedEvent(_message.Message):
    __slots__ = ("kind", "epoch", "tick", "unix_ns", "text", "origin", "session_id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    UNIX_NS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    kind: EventKind
    epoch: int
    tick: int
    unix_ns: int
    text: str
    origin: Snapshot
    session_id: str
    def __init__(self, kind: _Optional[_Union[EventKind, str]] = ..., epoch: _Optional[int] = ..., tick: _Optional[int] = ..., unix_ns: _Optional[int] = ..., text: _Optional[str] = ..., origin: _Optional[_Union[Snapshot, _Mapping[str, object]]] = ..., session_id: _Optional[str] = ...) -> None: ...
