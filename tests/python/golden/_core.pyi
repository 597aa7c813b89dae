"""C++ core of farfield."""

from collections.abc import Sequence
import enum

import numpy
import numpy.typing


class JointType(enum.Enum):
    """How a body moves against its parent."""

    Fixed = 0
    """No freedom."""

    Free = 1
    """
    Child of the world: q = (x, y, z, qw, qx, qy, qz), v = (world linear, body angular).
    """

    Ball = 2
    """q = (qw, qx, qy, qz), v = body angular velocity."""

    Universal = 3
    """Hinge about `axis`, then about `axis2`."""

    Hinge = 4
    """Rotation about `axis` [rad]."""

    Slide = 5
    """Translation along `axis` [m]."""

class BodyMotion(enum.Enum):
    """What moves a body."""

    Dynamic = 0
    """Its joints and the forces on it."""

    Fixed = 1
    """Welded to its parent."""

    Kinematic = 2
    """A scripted pose; child of the world."""

class ShapeType(enum.Enum):
    """Kinds of shapes; sizes are described at Shape.size."""

    Box = 0

    Sphere = 1

    Capsule = 2

    Cylinder = 3

    Ellipsoid = 4

    Mesh = 5

    HalfSpace = 6

class ActuatorType(enum.Enum):
    """Kinds of actuators."""

    Motor = 0
    """Generalised force gear * u."""

    Pd = 1
    """Stable proportional-derivative drive."""

class Moments:
    """Mass moments of a rigid body up to second order, in its own frame."""

    def __init__(self, *, mass: float = 0.0, first: numpy.typing.ArrayLike = ..., second: numpy.typing.ArrayLike = ...) -> None: ...

    def replace(self, *, mass: float = 0.0, first: numpy.typing.ArrayLike = ..., second: numpy.typing.ArrayLike = ...) -> Moments:
        """A copy with the given fields changed."""

    @property
    def mass(self) -> float:
        """Mass [kg]."""

    @property
    def first(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sum of m x [kg m], shape (3,)."""

    @property
    def second(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sum of m x x^T [kg m^2], shape (3, 3)."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    @staticmethod
    def from_inertia(*, mass: float, center: numpy.typing.ArrayLike, inertia: numpy.typing.ArrayLike) -> Moments:
        """
        From the mass [kg], the centre of mass [m], shape (3,), and the rotational inertia about it [kg m^2], shape (3, 3).
        """

    @staticmethod
    def from_vector(values: numpy.typing.ArrayLike) -> Moments:
        """From the ten numbers m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz."""

    @property
    def vector(self) -> numpy.typing.NDArray[numpy.float64]:
        """The ten numbers m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz."""

    @property
    def center(self) -> numpy.typing.NDArray[numpy.float64]:
        """Centre of mass [m], shape (3,)."""

    @property
    def inertia(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Rotational inertia about the centre of mass, body axes [kg m^2], shape (3, 3).
        """

class TriangleMesh:
    """Triangles as given: never made convex, decimated or moved."""

    def __init__(self, *, name: str = '', vertices: numpy.typing.ArrayLike = ..., triangles: numpy.typing.ArrayLike = ...) -> None: ...

    def replace(self, *, name: str = '', vertices: numpy.typing.ArrayLike = ..., triangles: numpy.typing.ArrayLike = ...) -> TriangleMesh:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name used in error texts and by Shape lookups."""

    @property
    def vertices(self) -> numpy.typing.NDArray[numpy.float64]:
        """Vertices [m], shape (n, 3)."""

    @property
    def triangles(self) -> numpy.typing.NDArray[numpy.int32]:
        """Vertex indices, shape (t, 3), counter-clockwise seen from outside."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    def validate(self) -> None:
        """
        Raises ValueError for an empty mesh, an index out of range or a degenerate triangle.
        """

    @property
    def is_watertight(self) -> bool:
        """Every edge is shared by exactly two triangles of opposite orientation."""

    def moments(self, *, density: float) -> Moments:
        """
        Moments of the solid bounded by this mesh, of uniform `density` [kg/m^3]; the mesh must be watertight.
        """

class Range:
    """Limits of a coordinate [rad or m]."""

    def __init__(self, *, lower: float = 0.0, upper: float = 0.0) -> None: ...

    def replace(self, *, lower: float = 0.0, upper: float = 0.0) -> Range:
        """A copy with the given fields changed."""

    @property
    def lower(self) -> float:
        """Lower end."""

    @property
    def upper(self) -> float:
        """Upper end."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Joint:
    """One joint of a body."""

    def __init__(self, *, name: str = '', type: JointType | str = ..., anchor: numpy.typing.ArrayLike = ..., axis: numpy.typing.ArrayLike = ..., axis2: numpy.typing.ArrayLike = ..., reference: float = 0.0, range: Range | tuple[float, float] | None = None, range2: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, damping: float = 0.0, armature: float = 0.0, stiffness: float = 0.0, spring_reference: float = 0.0) -> None: ...

    def replace(self, *, name: str = '', type: JointType | str = ..., anchor: numpy.typing.ArrayLike = ..., axis: numpy.typing.ArrayLike = ..., axis2: numpy.typing.ArrayLike = ..., reference: float = 0.0, range: Range | tuple[float, float] | None = None, range2: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, damping: float = 0.0, armature: float = 0.0, stiffness: float = 0.0, spring_reference: float = 0.0) -> Joint:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Unique in the scene."""

    @property
    def type(self) -> JointType:
        """A JointType or its name."""

    @property
    def anchor(self) -> numpy.typing.NDArray[numpy.float64]:
        """A point on the axis, body frame [m], shape (3,)."""

    @property
    def axis(self) -> numpy.typing.NDArray[numpy.float64]:
        """Direction, body frame, shape (3,); normalised when the model is built."""

    @property
    def axis2(self) -> numpy.typing.NDArray[numpy.float64]:
        """Second axis of a universal joint, shape (3,)."""

    @property
    def reference(self) -> float:
        """Hinge, slide: the coordinate of the described pose [rad or m]."""

    @property
    def range(self) -> Range | None:
        """Limits [rad or m]; ball: (0, largest angle)."""

    @property
    def range2(self) -> Range | None:
        """Limits of the second axis of a universal joint [rad]."""

    @property
    def limit_stiffness(self) -> float:
        """E = limit_stiffness/6 * excess^3 [N m/rad^2 or N/m^2]."""

    @property
    def damping(self) -> float:
        """[N m s/rad or N s/m]."""

    @property
    def armature(self) -> float:
        """Rotor inertia seen by the joint [kg m^2 or kg]."""

    @property
    def stiffness(self) -> float:
        """Spring [N m/rad or N/m]."""

    @property
    def spring_reference(self) -> float:
        """Coordinate at which the spring rests [rad or m]."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Body:
    """A rigid body, placed in its parent and moved by its joints in order."""

    def __init__(self, *, name: str = '', parent: int = 0, position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., motion: BodyMotion | str = ..., joints: Sequence[Joint] = ..., moments: Moments | None = None) -> None: ...

    def replace(self, *, name: str = '', parent: int = 0, position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., motion: BodyMotion | str = ..., joints: Sequence[Joint] = ..., moments: Moments | None = None) -> Body:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Unique in the scene."""

    @property
    def parent(self) -> int:
        """Index of an earlier body; 0 is the world."""

    @property
    def position(self) -> numpy.typing.NDArray[numpy.float64]:
        """Origin in the parent's frame [m], shape (3,)."""

    @property
    def orientation(self) -> numpy.typing.NDArray[numpy.float64]:
        """Quaternion (w, x, y, z) in the parent's frame, shape (4,)."""

    @property
    def motion(self) -> BodyMotion:
        """A BodyMotion or its name."""

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints in the order in which they act."""

    @property
    def moments(self) -> Moments | None:
        """Mass moments in the body frame; from the shapes' densities when None."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Shape:
    """Geometry on a body: drawn, and colliding unless told otherwise."""

    def __init__(self, *, name: str = '', body: int = 0, type: ShapeType | str = ..., size: numpy.typing.ArrayLike = ..., position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., mesh: int = -1, density: float = 1000.0, friction: float = 0.5, resolution: int = 0, collides: bool = True, group: int = 1, collides_with: int = 1, color: numpy.typing.ArrayLike = ...) -> None: ...

    def replace(self, *, name: str = '', body: int = 0, type: ShapeType | str = ..., size: numpy.typing.ArrayLike = ..., position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., mesh: int = -1, density: float = 1000.0, friction: float = 0.5, resolution: int = 0, collides: bool = True, group: int = 1, collides_with: int = 1, color: numpy.typing.ArrayLike = ...) -> Shape:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name, may be empty."""

    @property
    def body(self) -> int:
        """Index of the body that carries it."""

    @property
    def type(self) -> ShapeType:
        """A ShapeType or its name."""

    @property
    def size(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        [m], shape (3,): box half extents; sphere (radius); capsule and cylinder (radius, half length) along z; ellipsoid half axes. A half-space is z <= 0 of its own frame.
        """

    @property
    def position(self) -> numpy.typing.NDArray[numpy.float64]:
        """In the body frame [m], shape (3,)."""

    @property
    def orientation(self) -> numpy.typing.NDArray[numpy.float64]:
        """Quaternion (w, x, y, z) in the body frame, shape (4,)."""

    @property
    def mesh(self) -> int:
        """Index into Scene.meshes for ShapeType.Mesh, else -1."""

    @property
    def density(self) -> float:
        """[kg/m^3]; used only when the body's moments are None."""

    @property
    def friction(self) -> float:
        """Friction coefficient; a pair takes the larger."""

    @property
    def resolution(self) -> int:
        """Triangulation of a primitive; 0 is the default."""

    @property
    def collides(self) -> bool:
        """False: drawn only."""

    @property
    def group(self) -> int:
        """Bit mask; pairs meet when (group_a & with_b) | (group_b & with_a)."""

    @property
    def collides_with(self) -> int:
        """Bit mask of the groups it meets."""

    @property
    def color(self) -> numpy.typing.NDArray[numpy.float64]:
        """Red, green, blue, opacity in 0..1, shape (4,)."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Actuator:
    """A motor or a stable proportional-derivative drive on one joint."""

    def __init__(self, *, name: str = '', type: ActuatorType | str = ..., joint: str = '', kp: float = 0.0, kd: float = 0.0, gear: Sequence[float] = ..., position_input: bool = True, velocity_input: bool = True, control_range: Range | tuple[float, float] | None = None) -> None: ...

    def replace(self, *, name: str = '', type: ActuatorType | str = ..., joint: str = '', kp: float = 0.0, kd: float = 0.0, gear: Sequence[float] = ..., position_input: bool = True, velocity_input: bool = True, control_range: Range | tuple[float, float] | None = None) -> Actuator:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name, may be empty."""

    @property
    def type(self) -> ActuatorType:
        """An ActuatorType or its name."""

    @property
    def joint(self) -> str:
        """Name of the driven joint."""

    @property
    def kp(self) -> float:
        """Position gain [N m/rad or N/m]."""

    @property
    def kd(self) -> float:
        """Velocity gain [N m s/rad or N s/m]."""

    @property
    def gear(self) -> tuple[float, ...]:
        """
        Empty: one control per degree of freedom. Else one entry per degree of freedom, one control.
        """

    @property
    def position_input(self) -> bool:
        """Pd: the position target is a control."""

    @property
    def velocity_input(self) -> bool:
        """Pd: the velocity target is a control."""

    @property
    def control_range(self) -> Range | None:
        """Informative, not clamped (a clamp has no gradient)."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Tie:
    """
    Exact linear tie between scalar joints: q(joint) = offset + ratio * q(source).
    """

    def __init__(self, *, joint: str = '', source: str = '', ratio: float = 1.0, offset: float = 0.0) -> None: ...

    def replace(self, *, joint: str = '', source: str = '', ratio: float = 1.0, offset: float = 0.0) -> Tie:
        """A copy with the given fields changed."""

    @property
    def joint(self) -> str:
        """Name of the joint that follows."""

    @property
    def source(self) -> str:
        """Name of the joint that leads."""

    @property
    def ratio(self) -> float:
        """d q(joint) / d q(source)."""

    @property
    def offset(self) -> float:
        """q(joint) when q(source) = 0 [rad or m]."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Keyframe:
    """A named state; empty arrays mean the defaults."""

    def __init__(self, *, name: str = '', q: numpy.typing.ArrayLike = ..., v: numpy.typing.ArrayLike = ..., control: numpy.typing.ArrayLike = ...) -> None: ...

    def replace(self, *, name: str = '', q: numpy.typing.ArrayLike = ..., v: numpy.typing.ArrayLike = ..., control: numpy.typing.ArrayLike = ...) -> Keyframe:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def q(self) -> numpy.typing.NDArray[numpy.float64]:
        """Coordinates, shape (num_q,) or (0,)."""

    @property
    def v(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocities, shape (num_dofs,) or (0,)."""

    @property
    def control(self) -> numpy.typing.NDArray[numpy.float64]:
        """Controls, shape (num_controls,) or (0,)."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

class Scene:
    """
    The plain description of a world. SI units; quaternions are (w, x, y, z); body 0 is the world.

    Its lists are read as tuples of copies; change them by add_..., replace_..., or by assigning a whole new list.
    """

    def __init__(self, *, name: str = 'scene', gravity: numpy.typing.ArrayLike = ..., bodies: Sequence[Body] = ..., meshes: Sequence[TriangleMesh] = ..., shapes: Sequence[Shape] = ..., actuators: Sequence[Actuator] = ..., ties: Sequence[Tie] = ..., exclude_contacts: Sequence[tuple[str, str]] = ..., include_contacts: Sequence[tuple[str, str]] = ..., keyframes: Sequence[Keyframe] = ...) -> None: ...

    def replace(self, *, name: str = 'scene', gravity: numpy.typing.ArrayLike = ..., bodies: Sequence[Body] = ..., meshes: Sequence[TriangleMesh] = ..., shapes: Sequence[Shape] = ..., actuators: Sequence[Actuator] = ..., ties: Sequence[Tie] = ..., exclude_contacts: Sequence[tuple[str, str]] = ..., include_contacts: Sequence[tuple[str, str]] = ..., keyframes: Sequence[Keyframe] = ...) -> Scene:
        """A copy with the given fields changed."""

    @property
    def name(self) -> str:
        """Name of the scene."""

    @name.setter
    def name(self, value: str) -> None: ...

    @property
    def gravity(self) -> numpy.typing.NDArray[numpy.float64]:
        """[m/s^2], shape (3,)."""

    @gravity.setter
    def gravity(self, value: numpy.typing.ArrayLike) -> None: ...

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies; the first is the world."""

    @bodies.setter
    def bodies(self, value: Sequence[Body]) -> None: ...

    @property
    def meshes(self) -> tuple[TriangleMesh, ...]:
        """Meshes that shapes refer to by index."""

    @meshes.setter
    def meshes(self, value: Sequence[TriangleMesh]) -> None: ...

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Shapes on bodies."""

    @shapes.setter
    def shapes(self, value: Sequence[Shape]) -> None: ...

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """Actuators; their controls follow in this order."""

    @actuators.setter
    def actuators(self, value: Sequence[Actuator]) -> None: ...

    @property
    def ties(self) -> tuple[Tie, ...]:
        """Linear ties between joints."""

    @ties.setter
    def ties(self, value: Sequence[Tie]) -> None: ...

    @property
    def exclude_contacts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of body names that never touch."""

    @exclude_contacts.setter
    def exclude_contacts(self, value: Sequence[tuple[str, str]]) -> None: ...

    @property
    def include_contacts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of body names that may touch."""

    @include_contacts.setter
    def include_contacts(self, value: Sequence[tuple[str, str]]) -> None: ...

    @property
    def keyframes(self) -> tuple[Keyframe, ...]:
        """Named states."""

    @keyframes.setter
    def keyframes(self, value: Sequence[Keyframe]) -> None: ...

    def __repr__(self) -> str: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    def add_body(self, *, name: str = '', parent: int | str = 0, position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., motion: BodyMotion | str = ..., joints: Sequence[Joint] = ..., moments: Moments | None = None) -> int:
        """Appends a Body and returns its index; `parent` is an index or a name."""

    def add_joint(self, body: int | str, *, name: str = '', type: JointType | str = ..., anchor: numpy.typing.ArrayLike = ..., axis: numpy.typing.ArrayLike = ..., axis2: numpy.typing.ArrayLike = ..., reference: float = 0.0, range: Range | tuple[float, float] | None = None, range2: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, damping: float = 0.0, armature: float = 0.0, stiffness: float = 0.0, spring_reference: float = 0.0) -> int:
        """
        Appends a Joint to the body and returns its place among the body's joints.
        """

    def add_shape(self, body: int | str, *, name: str = '', body: int = 0, type: ShapeType | str = ..., size: numpy.typing.ArrayLike = ..., position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., mesh: int | str = -1, density: float = 1000.0, friction: float = 0.5, resolution: int = 0, collides: bool = True, group: int = 1, collides_with: int = 1, color: numpy.typing.ArrayLike = ...) -> int:
        """
        Appends a Shape to the body and returns its index; `mesh` is an index or a name.
        """

    def add_mesh(self, *, name: str = '', vertices: numpy.typing.ArrayLike = ..., triangles: numpy.typing.ArrayLike = ...) -> int:
        """Appends a TriangleMesh and returns its index."""

    def add_actuator(self, *, name: str = '', type: ActuatorType | str = ..., joint: str = '', kp: float = 0.0, kd: float = 0.0, gear: Sequence[float] = ..., position_input: bool = True, velocity_input: bool = True, control_range: Range | tuple[float, float] | None = None) -> int:
        """Appends an Actuator on an existing joint and returns its index."""

    def add_tie(self, *, joint: str = '', source: str = '', ratio: float = 1.0, offset: float = 0.0) -> int:
        """Appends a Tie between existing joints and returns its index."""

    def add_keyframe(self, *, name: str = '', q: numpy.typing.ArrayLike = ..., v: numpy.typing.ArrayLike = ..., control: numpy.typing.ArrayLike = ...) -> int:
        """Appends a Keyframe and returns its index."""

    def exclude(self, a: int | str, b: int | str) -> None:
        """The two bodies (indices or names) never touch."""

    def include(self, a: int | str, b: int | str) -> None:
        """The two bodies (indices or names) may touch whatever other rules say."""

    def replace_body(self, which: int | str, *, name: str = '', parent: int = 0, position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., motion: BodyMotion | str = ..., joints: Sequence[Joint] = ..., moments: Moments | None = None) -> None:
        """Changes fields of the element with this index or name."""

    def replace_shape(self, which: int | str, *, name: str = '', body: int = 0, type: ShapeType | str = ..., size: numpy.typing.ArrayLike = ..., position: numpy.typing.ArrayLike = ..., orientation: numpy.typing.ArrayLike = ..., mesh: int = -1, density: float = 1000.0, friction: float = 0.5, resolution: int = 0, collides: bool = True, group: int = 1, collides_with: int = 1, color: numpy.typing.ArrayLike = ...) -> None:
        """Changes fields of the element with this index or name."""

    def replace_actuator(self, which: int | str, *, name: str = '', type: ActuatorType | str = ..., joint: str = '', kp: float = 0.0, kd: float = 0.0, gear: Sequence[float] = ..., position_input: bool = True, velocity_input: bool = True, control_range: Range | tuple[float, float] | None = None) -> None:
        """Changes fields of the element with this index or name."""

    def replace_joint(self, joint: str, *, name: str = '', type: JointType | str = ..., anchor: numpy.typing.ArrayLike = ..., axis: numpy.typing.ArrayLike = ..., axis2: numpy.typing.ArrayLike = ..., reference: float = 0.0, range: Range | tuple[float, float] | None = None, range2: Range | tuple[float, float] | None = None, limit_stiffness: float = 10000.0, damping: float = 0.0, armature: float = 0.0, stiffness: float = 0.0, spring_reference: float = 0.0) -> None:
        """Changes fields of the joint with this name."""

    def body_index(self, body: int | str) -> int:
        """Index of the body with this name."""

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, body by body: the order of the coordinates q and v."""
